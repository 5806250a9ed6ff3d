"""Benchmarks: how many passes are done, and the table of results as it grows."""

from collections.abc import Collection
from dataclasses import dataclass

from eagle3web.formats import count
from eagle3web.live.records import Entry
from eagle3web.models import Attempt, Run
from eagle3web.pages.benchmarks import verdict
from eagle3web.pages.stages.base import Context, StagePart, Window
from eagle3web.queries import benchmarks, points
from eagle3web.queries.counters import last_word
from pipeline.drafter_events import BenchmarkMeasured


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The last pass of an attempt, as the page shows it."""

    told: BenchmarkMeasured
    eta_s: float | None

    @property
    def share(self) -> float | None:
        return min(1.0, self.told.done / self.told.total) if self.told.total else None

    @property
    def words(self) -> str:
        return f"{count(self.told.done)} of {count(self.told.total)} passes"


def measured(attempt: Attempt, *, forecast: bool) -> Measured | None:
    told = last_word(attempt, BenchmarkMeasured)
    return None if told is None else Measured(told=told, eta_s=told.eta_s if forecast else None)


def context(run: Run, attempt: Attempt, forecast: bool) -> Context:
    """Two queries."""
    found = measured(attempt, forecast=forecast)
    rows = benchmarks.rows_of(attempt.pk)
    return {
        "measured": found,
        "drafter_name": attempt.config.get("drafter_name") or run.config.get("drafter_name"),
        "results": rows,
        "verdict": verdict(attempt, rows),
        "kept": f"the measurements of {found.words}" if found else "nothing was measured yet",
    }


def details(run: Run, attempt: Attempt, up_to: int) -> Context:
    return {}


def points_after(attempt_id: int, after: int, *, up_to: int | None = None, limit: int = points.LIMIT) -> list[Entry]:
    return []


def points_within(attempt: Attempt, lines: Collection[str], low: int, high: int) -> Window:
    return Window(lines={}, total=0)


PART = StagePart(
    template="runs/stages/_benchmark.html",
    facts="runs/facts/_benchmark.html",
    fragments={"run-benchmark": "runs/_benchmark.html", "bench-results": "benchmarks/_results.html"},
    context=context,
    details=details,
    points_after=points_after,
    points_within=points_within,
)
