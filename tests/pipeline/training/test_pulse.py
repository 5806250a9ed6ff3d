import time

import pytest

from pipeline.errors import InterruptedRunError
from pipeline.event import Event
from pipeline.events import StatusChanged
from pipeline.training import pulse as module
from pipeline.training.pulse import Pulse
from tests.support.servers import wait_until


class Recorder:
    """Stands where the Stage does, and keeps what it is told."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.told: list[Event] = []
        self.ticks: list[str] = []
        self.failure = failure

    def emit(self, event: Event) -> None:
        self.told.append(event)

    def tick(self, waiting_for: str = "") -> None:
        if self.failure is not None:
            raise self.failure
        self.ticks.append(waiting_for)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TICK_S", 0.01)
    monkeypatch.setattr(module, "LONG_S", 0.1)


def test_long_operation_is_ticked_and_named() -> None:
    stage = Recorder()
    with Pulse(stage) as pulse:
        pulse.begin("step 7")
        wait_until(lambda: "step 7, for 0 s" in stage.ticks, "a tick that names the step")
    assert stage.ticks[0] == ""


def test_operation_that_outlasts_its_time_falls_silent() -> None:
    stage = Recorder()
    with Pulse(stage) as pulse:
        pulse.begin("loading", patience_s=0.05)
        time.sleep(0.2)
        silent = len(stage.ticks)
        time.sleep(0.1)
        assert len(stage.ticks) == silent
        pulse.begin("step 1")
        wait_until(lambda: len(stage.ticks) > silent, "another tick")


def test_what_a_tick_raises_reaches_the_loop() -> None:
    gone = InterruptedRunError("the supervisor is gone")
    with Pulse(Recorder(gone)) as pulse, pytest.raises(InterruptedRunError, match="the supervisor is gone"):
        wait_until(lambda: pulse.begin("step 1"), "the tick's failure")


def test_status_is_told_once_and_shown_in_the_tick() -> None:
    stage = Recorder()
    with Pulse(stage) as pulse:
        pulse.tell("opening the hidden states")
        pulse.tell("opening the hidden states")
        wait_until(lambda: "opening the hidden states" in stage.ticks, "the status in a tick")
        pulse.tell("")
    assert stage.told == [StatusChanged(text="opening the hidden states"), StatusChanged(text="")]
