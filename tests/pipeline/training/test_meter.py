import pytest

from pipeline.training.meter import Meter, Standing
from pipeline.training.schedule import Limits
from pipeline.training.stepping import StepResult

STANDING = Standing(step=4, epoch=0.5, tokens=400, learning_rate=1e-3, memory_bytes=7)


def result(*sums: float, counted: int = 10, hits: int = 5, norm: float = 1.0) -> StepResult:
    steps = len(sums)
    return StepResult(sums=sums, counted=(counted,) * steps, hits=(hits,) * steps, rows=(20,) * steps, grad_norm=norm)


def test_event_is_the_mean_over_the_rows_of_all_steps_since_the_last_one() -> None:
    meter = Meter(steps=2, decay=0.5, limits=Limits(steps=10))
    meter.add(result(10.0, 20.0, counted=10, norm=1.0))
    meter.add(result(50.0, 40.0, counted=20, hits=15, norm=3.0))
    event = meter.event(STANDING)
    assert event.step_losses == (2.0, 2.0)
    assert event.loss == 3.0
    assert event.accuracy == (0.5, 0.5)
    assert (event.grad_norm, event.tokens, event.total_steps, event.memory_bytes) == (2.0, 400, 10, 7)
    assert not meter.has_news


def test_one_step_batches_leave_what_later_steps_said() -> None:
    meter = Meter(steps=2, decay=0.5, limits=Limits(steps=10))
    meter.add(result(10.0))
    assert meter.event(STANDING).step_losses == (1.0,)
    meter.add(result(10.0, 30.0))
    meter.event(STANDING)
    meter.add(result(20.0))
    assert meter.event(STANDING).step_losses == (2.0, 3.0)


def test_step_without_a_counted_row_keeps_the_last_loss_and_counts_misses() -> None:
    meter = Meter(steps=1, decay=0.5, limits=Limits(steps=10))
    meter.add(result(10.0))
    meter.event(STANDING)
    meter.add(result(0.0, counted=0, hits=0))
    event = meter.event(STANDING)
    assert (event.step_losses, event.accuracy) == ((1.0,), (0.0,))


def test_time_to_go_follows_the_pace() -> None:
    meter = Meter(steps=1, decay=0.5, limits=Limits(steps=10))
    meter.add(result(1.0))
    meter.seconds_per_step = 2.0
    assert meter.event(STANDING).eta_s == pytest.approx(12.0)
