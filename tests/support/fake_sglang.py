"""In place of an SGLang environment's Python: tells a version, and serves the stub engine where SGLang would be started.

`interpreter` makes the program. EAGLE3_FAKE_SGLANG says how it behaves: JSON with fields of the stub's Behaviour, and `dies`
(exit code 9 at the start) or `leaves` (a process in a session of its own, as a server's helpers may be).
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

VERSION = "0.5.23"
BEHAVIOUR = "EAGLE3_FAKE_SGLANG"
ROOT = Path(__file__).resolve().parent.parent.parent
START = """\
[2026-11-30 16:42:43] Load weight begin. avail mem=19.71 GB
Loading safetensors checkpoint shards:  50% Completed | 1/2 [00:00<00:01,  1.31it/s]
[2026-11-30 16:42:44] Load weight end. elapsed=0.84 s, type=LlamaForCausalLM, avail mem=19.19 GB, mem usage=0.52 GB.
[2026-11-30 16:42:48] INFO:     127.0.0.1:53462 - "GET /health HTTP/1.1" 200 OK
"""


def interpreter(folder: Path) -> Path:
    """An executable that takes the arguments of Python."""
    path = folder / "fake-python"
    call = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from tests.support.fake_sglang import main; main(sys.argv[1:])"
    path.write_text(f"#!{sys.executable}\n{call}\n")
    path.chmod(0o755)
    return path


def main(arguments: list[str]) -> None:
    if arguments[0] == "-c":
        sys.stdout.write(f"{VERSION}\n")
        return
    behaviour = json.loads(os.environ.get(BEHAVIOUR, "{}"))
    sys.stderr.write(START)
    if behaviour.pop("leaves", False):
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    if behaviour.pop("dies", False):
        time.sleep(0.1)
        sys.stderr.write("RuntimeError: no kernel image is available\n")
        sys.exit(9)
    flags = [word for name, value in behaviour.items() for word in (f"--{name.replace('_', '-')}", str(value))]
    from tests.support import stub_engine  # noqa: PLC0415  (a version is told without it)

    stub_engine.main(["--port", arguments[arguments.index("--port") + 1], *flags])
