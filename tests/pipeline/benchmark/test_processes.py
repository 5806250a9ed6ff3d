import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

from pipeline.benchmark.processes import EngineProcess
from pipeline.errors import EngineUnavailableError
from tests.support.servers import ROOT, wait_until

STUB = [sys.executable, "-m", "tests.support.stub_engine"]
OWNER = """
import asyncio, sys, time
from pathlib import Path
from pipeline.benchmark.processes import EngineProcess

engine = EngineProcess("stub", sys.argv[2:], Path(sys.argv[1]))
asyncio.run(engine.url())
print(engine.pid, flush=True)
time.sleep(60)
"""


def is_dead(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EngineProcess]:
    process = EngineProcess("stub", STUB, tmp_path)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


async def test_engine_tells_its_address_once_it_is_ready(engine: EngineProcess) -> None:
    url = await engine.url()
    async with httpx.AsyncClient(trust_env=False) as client:
        assert (await client.get(f"{url}/health")).status_code == 200
    assert engine.fault() == ""
    assert "stub engine listening on" in engine.log.read_text()


async def test_engine_ends_when_it_is_told_to(engine: EngineProcess, tmp_path: Path) -> None:
    await engine.url()
    engine.terminate()
    engine.wait()
    assert is_dead(engine.pid)
    assert not (tmp_path / "engine-stub.json").exists()


@pytest.mark.slow
async def test_engine_that_ignores_term_is_killed(tmp_path: Path) -> None:
    script = "import json, pathlib, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    script += "pathlib.Path(sys.argv[2]).write_text(json.dumps({'url': 'u'})); time.sleep(60)"
    process = EngineProcess("deaf", [sys.executable, "-c", script], tmp_path)
    assert await process.url() == "u"
    process.terminate()
    process.wait()
    assert process.fault().startswith("engine deaf was killed by SIGKILL (its log: ")


async def test_engine_that_cannot_start_says_why(tmp_path: Path) -> None:
    script = "import sys; sys.stderr.write('loading\\nno such model\\n'); sys.exit(3)"
    process = EngineProcess("broken", [sys.executable, "-c", script], tmp_path)
    with pytest.raises(EngineUnavailableError, match=r"^engine broken ended with exit code 3: loading \| no such model \("):
        await process.url()
    process.wait()


@pytest.mark.parametrize("sig", [signal.SIGKILL, signal.SIGTERM])
def test_engine_dies_with_its_owner_however_that_dies(tmp_path: Path, sig: signal.Signals) -> None:
    command = [sys.executable, "-c", OWNER, str(tmp_path), *STUB]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        assert not is_dead(pid)
        assert os.getpgid(pid) != os.getpgid(owner.pid)
        owner.send_signal(sig)
        owner.wait()
        wait_until(lambda: is_dead(pid), "the engine is dead", 5)
