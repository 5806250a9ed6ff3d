import signal
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pipeline.artifacts import AttemptFolder, read_json
from pipeline.errors import ConfigError, InterruptedRunError
from pipeline.events import read_events
from pipeline.extraction.pulse import Pulse
from pipeline.stage import Stage


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with closing(Stage("extract", AttemptFolder(tmp_path))) as stage:
        yield stage


def test_first_beat_ticks_and_those_right_after_cost_nothing(stage: Stage) -> None:
    pulse = Pulse(stage)
    pulse("reading")
    before = stage.folder.heartbeat.stat().st_mtime_ns
    pulse("later")
    assert read_json(stage.folder.heartbeat)["waiting_for"] == "reading"
    assert stage.folder.heartbeat.stat().st_mtime_ns == before


def test_signal_ends_the_work_at_its_next_beat(stage: Stage) -> None:
    pulse = Pulse(stage)
    handler = signal.getsignal(signal.SIGTERM)
    with pulse.hearing_signals():
        pulse()
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(InterruptedRunError, match="stopped by SIGTERM"):
            pulse()
    assert signal.getsignal(signal.SIGTERM) == handler


def test_work_in_a_thread_gives_its_result_or_its_error_while_the_stage_says_what_it_does(stage: Stage) -> None:
    pulse = Pulse(stage)

    def load() -> int:
        time.sleep(0.3)
        return 7

    assert pulse.during(load, doing="loading") == 7
    assert read_json(stage.folder.heartbeat)["waiting_for"] == "loading"
    assert [line.payload["text"] for line, _ in read_events(stage.folder.events)] == ["loading", ""]

    def fail() -> None:
        raise ConfigError("no model")

    with pytest.raises(ConfigError, match="no model"):
        pulse.during(fail, doing="loading")


def test_stop_does_not_wait_for_work_in_a_thread(stage: Stage) -> None:
    pulse, release = Pulse(stage), threading.Event()
    with pulse.hearing_signals():
        threading.Timer(0.2, signal.raise_signal, [signal.SIGINT]).start()
        started = time.monotonic()
        with pytest.raises(InterruptedRunError, match="stopped by Ctrl-C"):
            pulse.during(lambda: release.wait(30), doing="loading")
    assert time.monotonic() - started < 20
    release.set()
