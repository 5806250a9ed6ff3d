"""The stage's process: started, spoken to, ended to the last child."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from eagle3web.domain import procfs
from eagle3web.domain.stage_process import Patience, StageProcess, kill_processes
from pipeline.artifacts import AttemptFolder
from tests.support.servers import wait_until

Started = Callable[[str], StageProcess]


@pytest.fixture
def folder(tmp_path: Path) -> AttemptFolder:
    return AttemptFolder(tmp_path)


@pytest.fixture
def start(folder: AttemptFolder) -> Iterator[Started]:
    """Starts a Python program as a stage."""
    stages = []

    def started(program: str) -> StageProcess:
        stages.append(StageProcess([sys.executable, "-c", program], folder=folder, cwd=folder.path))
        return stages[-1]

    yield started
    for stage in stages:
        kill_processes(folder)
        if Path(f"/proc/{stage.pid}").exists():
            stage.reap()


def ended(stage: StageProcess) -> int:
    wait_until(stage.has_ended, "the stage has ended")
    return stage.reap()


def test_output_goes_to_the_log_and_the_exit_is_kept(start: Started, folder: AttemptFolder) -> None:
    stage = start("import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(7)")
    assert ended(stage) == 7
    assert folder.log.read_text() == "out\nerr\n"


def test_write_reaches_the_stage_and_the_end_of_its_input_follows_ours(start: Started, folder: AttemptFolder) -> None:
    stage = start("import sys; print(sys.stdin.readline().strip())")
    stage.write(b"hello\n")
    assert ended(stage) == 0
    assert folder.log.read_text() == "hello\n"


def test_write_never_blocks_and_loses_nothing(start: Started, folder: AttemptFolder) -> None:
    stage = start("import sys; print(len(sys.stdin.read(500_000)))")
    os.kill(stage.pid, signal.SIGSTOP)
    begin = time.monotonic()
    stage.write(b"x" * 500_000)
    assert time.monotonic() - begin < 1
    os.kill(stage.pid, signal.SIGCONT)

    def goes_on() -> bool:
        stage.flush()
        return stage.has_ended()

    wait_until(goes_on, "the stage has read everything")
    assert stage.reap() == 0
    assert folder.log.read_text() == "500000\n"


def test_write_to_a_stage_that_has_ended_is_no_error(start: Started) -> None:
    stage = start("")
    wait_until(stage.has_ended, "the stage has ended")
    stage.write(b"anybody?\n")
    assert stage.reap() == 0


def test_has_ended_leaves_the_pid_ours_until_reap(start: Started) -> None:
    stage = start("")
    wait_until(stage.has_ended, "the stage has ended")
    assert Path(f"/proc/{stage.pid}").exists()
    assert stage.reap() == 0
    assert not Path(f"/proc/{stage.pid}").exists()
    assert stage.has_ended()


def test_reap_kills_what_the_stage_left_wherever_it_went(start: Started, folder: AttemptFolder) -> None:
    stage = start("import subprocess; subprocess.Popen(['/bin/sleep', '60'], start_new_session=True)")
    assert ended(stage) == 0
    wait_until(lambda: list(procfs.marked("EAGLE3_ATTEMPT", str(folder.path))) == [], "nothing is left")


def test_press_sends_term_then_kill_in_their_time(start: Started, folder: AttemptFolder) -> None:
    stage = start("import signal, time; signal.signal(15, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)")
    wait_until(lambda: folder.log.read_text() == "ready\n", "it does not listen")
    assert stage.press() is None
    stage.end(Patience(stop_s=0.2, term_s=0.2))
    stage.end(Patience(stop_s=60))
    sent = []

    def pressed() -> bool:
        if (sig := stage.press()) is not None:
            sent.append(sig)
        return stage.has_ended()

    wait_until(pressed, "it has ended")
    assert stage.reap() == -signal.SIGKILL
    assert sent == [signal.SIGTERM, signal.SIGKILL]


def test_press_wakes_a_stopped_stage_so_that_it_can_act_on_term(start: Started, folder: AttemptFolder) -> None:
    stage = start("import signal, time; signal.signal(15, lambda *_: exit(5)); print('ready', flush=True); time.sleep(60)")
    wait_until(lambda: folder.log.read_text() == "ready\n", "it listens")
    os.kill(stage.pid, signal.SIGSTOP)
    stage.end(Patience(stop_s=0, term_s=60))
    assert stage.press() == signal.SIGTERM
    assert ended(stage) == 5
