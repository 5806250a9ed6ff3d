"""What extraction, training and benchmarks say, as points of chart lines."""

from collections.abc import Iterable
from datetime import datetime

from eagle3web.domain.points import Points
from pipeline.drafter_events import BenchmarkMeasured, DecodeEvalLogged, EvalLogged, ExtractionProgress, StepLogged
from pipeline.event import Event
from pipeline.server_events import ServerMeasured

Values = dict[tuple[str, str], float]
"""(metric, series) → value."""


def draw(event: Event, t: datetime, points: Points) -> None:
    """Add the event's points. Every evaluation has one; of counters and steps as many as charts can use."""
    match event:
        case ExtractionProgress():
            _now_and_then(points, t, _extraction(event), step=event.documents)
        case StepLogged():
            _now_and_then(points, t, _training(event), step=event.step, last=event.step >= event.total_steps)
        case EvalLogged():
            points.draw(t, _evaluation(event), step=event.step)
        case DecodeEvalLogged():
            pooled = {("accept_length", ""): event.accept_length}
            points.draw(t, pooled | _by_dataset("accept_length", event.datasets), step=event.step)
        case BenchmarkMeasured():
            points.draw(t, {("tokens_per_s", f"{event.mode} {event.shape}".strip()): event.tokens_per_s}, step=event.done)
        case ServerMeasured():
            _now_and_then(points, t, _serving(event), step=event.number)


def _serving(event: ServerMeasured) -> Values:
    accepted: Values = {("accept_length", ""): event.accept_length} if event.accept_length is not None else {}
    return {("tokens_per_s", ""): event.tokens_per_s, ("running", ""): event.running, ("waiting", ""): event.waiting} | accepted


def _now_and_then(points: Points, t: datetime, values: Values, *, step: int, last: bool = False) -> None:
    """All lines of an event together, so that their points stand above one another."""
    if last or points.is_due(*next(iter(values)), t, spread=True):
        points.draw(t, values, step=step)


def _extraction(event: ExtractionProgress) -> Values:
    values: Values = {
        ("tokens", ""): event.tokens,
        ("bytes", ""): event.bytes,
        ("tokens_per_s", ""): event.tokens_per_s,
    }
    return values | ({("agreement", ""): event.agreed / event.compared} if event.compared else {})


def _training(event: StepLogged) -> Values:
    values: Values = {
        ("loss", ""): event.loss,
        ("learning_rate", ""): event.learning_rate,
        ("grad_norm", ""): event.grad_norm,
        ("tokens_per_s", ""): event.tokens_per_s,
        ("memory_bytes", ""): event.memory_bytes,
    }
    return values | _by_step("accuracy", event.accuracy) | _by_step("step_loss", event.step_losses)


def _evaluation(event: EvalLogged) -> Values:
    pooled: Values = {("eval_loss", ""): event.loss, ("simulated_accept_length", ""): event.accept_length}
    return pooled | _by_step("eval_accuracy", event.accuracy) | _by_dataset("simulated_accept_length", event.datasets)


def _by_step(name: str, values: Iterable[float]) -> Values:
    """One line for each step k of the training-time test."""
    return {(name, str(k)): value for k, value in enumerate(values)}


def _by_dataset(name: str, values: dict[str, float]) -> Values:
    """One line for each dataset; "" is all of them."""
    return {(name, dataset): value for dataset, value in values.items() if dataset}
