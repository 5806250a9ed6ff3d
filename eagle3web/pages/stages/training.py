"""Training: how far, how well, and which checkpoints there are by now."""

from collections.abc import Collection
from dataclasses import dataclass

from eagle3web.charts import training as charts
from eagle3web.formats import count
from eagle3web.live.records import Entry
from eagle3web.models import Attempt, Run
from eagle3web.pages.checkpoints import ShownCheckpoint, shown_checkpoints
from eagle3web.pages.stages.base import Context, StagePart, Window
from eagle3web.queries import checkpoints, curves, points
from eagle3web.queries.counters import last_word
from pipeline.drafter_events import DecodeEvalLogged, EvalLogged, StepLogged

METRICS = (
    "loss", "eval_loss", "accuracy", "eval_accuracy", "simulated_accept_length", "accept_length", "tokens_per_s",
    "learning_rate", "memory_bytes", "grad_norm",
)  # fmt: skip
FIGURES = {
    "loss_figure": charts.loss_figure,
    "accuracy_figure": charts.accuracy_figure,
    "accept_figure": charts.accept_figure,
    "speed_figure": charts.speed_figure,
    "memory_figure": charts.memory_figure,
}


@dataclass(frozen=True, kw_only=True)
class Trained:
    """The last words of an attempt, as the page shows them."""

    told: StepLogged
    evaluated: EvalLogged | None
    decoded: DecodeEvalLogged | None
    eta_s: float | None

    @property
    def share(self) -> float | None:
        return min(1.0, self.told.step / self.told.total_steps) if self.told.total_steps else None

    @property
    def words(self) -> str:
        return f"step {count(self.told.step)} of {count(self.told.total_steps)}"


def trained(attempt: Attempt, *, forecast: bool) -> Trained | None:
    told = last_word(attempt, StepLogged)
    if told is None:
        return None
    return Trained(
        told=told,
        evaluated=last_word(attempt, EvalLogged),
        decoded=last_word(attempt, DecodeEvalLogged),
        eta_s=told.eta_s if forecast else None,
    )


def context(run: Run, attempt: Attempt, forecast: bool) -> Context:
    """About three queries."""
    saved: list[ShownCheckpoint] = shown_checkpoints(checkpoints.of_run(run.pk))
    present = [shown for shown in saved if not shown.row.removed_at]
    kept = f"{count(len(present))} checkpoint{'s' if len(present) != 1 else ''}"
    if present:
        kept += f", the newest of step {count(max(shown.row.step for shown in present))}"
    return {"trained": trained(attempt, forecast=forecast), "saved": saved, "kept": kept}


def details(run: Run, attempt: Attempt, up_to: int) -> Context:
    """Five charts, with the lines of earlier attempts up to where this one took over. One query."""
    found = curves.curves_of(run.pk, number=attempt.number, metrics=METRICS, up_to=up_to)
    figures = {name: make(found.lines, found.resumed) for name, make in FIGURES.items()}
    return figures | {"points_drawn": found.drawn, "points_total": found.total}


def points_after(attempt_id: int, after: int, *, up_to: int | None = None, limit: int = points.LIMIT) -> list[Entry]:
    return list(curves.curve_points_after(attempt_id, METRICS, after, up_to=up_to, limit=limit))


def points_within(attempt: Attempt, lines: Collection[str], low: int, high: int) -> Window:
    """By step. One query for each attempt."""
    metrics = {line.partition("/")[0] for line in lines}.intersection(METRICS)
    found = curves.curves_of(attempt.run_id, number=attempt.number, metrics=metrics, steps=(low, high))
    return Window(lines={name: points for name, points in found.lines.items() if name in lines}, total=found.total)


PART = StagePart(
    template="runs/stages/_train.html",
    facts="runs/facts/_train.html",
    fragments={"run-training": "runs/_training.html", "run-checkpoints": "runs/_checkpoints.html"},
    context=context,
    details=details,
    points_after=points_after,
    points_within=points_within,
)
