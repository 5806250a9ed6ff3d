"""A clock that jumps under a living process."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.clock import Clock

CODE = "import sys, time; [print(time.time() - float(line), flush=True) for line in sys.stdin]"


@pytest.mark.skipif(shutil.which("cc") is None, reason="clocks jump by a few lines of C, and no compiler is installed")
def test_the_clock_jumps_and_jumps_back(tmp_path: Path) -> None:
    clock = Clock(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-c", CODE], env=clock.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for jump in (0, 7200, -90, 0):
            clock.jump(jump)
            process.stdin.write(f"{time.time()}\n")
            process.stdin.flush()
            assert abs(float(process.stdout.readline()) - jump) < 60
        process.stdin.close()
