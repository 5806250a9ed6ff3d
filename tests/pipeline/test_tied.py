import os
import subprocess
import sys

from tests.support.servers import ROOT


def tied(parent: int, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pipeline.tied", str(parent), *command], capture_output=True, text=True, check=False, cwd=ROOT
    )


def test_command_takes_the_place_of_the_process() -> None:
    done = tied(os.getpid(), sys.executable, "-c", "import sys; print(sys.argv[1:]); sys.exit(5)", "a b")
    assert (done.returncode, done.stdout) == (5, "['a b']\n")


def test_command_does_not_begin_when_the_parent_is_gone() -> None:
    done = tied(1, sys.executable, "-c", "print('begun')")
    assert done.returncode != 0
    assert done.stdout == ""
    assert "the supervisor is gone" in done.stderr
