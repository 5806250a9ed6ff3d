"""Generation: one row for each dataset, tokens over time, lengths and samples of answers."""

from collections.abc import Collection

from eagle3web.charts.lengths import answer_lengths_figure
from eagle3web.charts.tokens import tokens_figure
from eagle3web.enums import AttemptStatus
from eagle3web.formats import count, tokens
from eagle3web.live.records import Entry
from eagle3web.models import Attempt, Run
from eagle3web.pages import burn_down
from eagle3web.pages.datasets_of_run import dataset_rows, totals
from eagle3web.pages.stages.base import Context, StagePart, Window
from eagle3web.queries import points, runs
from eagle3web.queries.lengths import answer_lengths

TOKENS = "tokens"
"""Name of the metric whose points the chart shows, one series for each dataset."""


def context(run: Run, attempt: Attempt, forecast: bool) -> Context:
    """Four queries."""
    progress = runs.datasets_of(attempt.pk)
    ended = attempt.status in AttemptStatus.TERMINAL
    found = totals(progress, forecast=forecast)
    return {
        "rows": dataset_rows(progress, {} if ended else runs.asked_budgets(run.project_id), forecast=forecast),
        "totals": found,
        "kept": f"{count(found.answers)} answer{'s' if found.answers != 1 else ''}, {tokens(found.on_disk)} tokens",
        "lengths": answer_lengths_figure([(row.dataset, row.edges, row.counts) for row in answer_lengths(attempt.pk)]),
        "engines": [engine.get("name", "") for engine in run.config.get("engines", ())],
    }


def details(run: Run, attempt: Attempt, up_to: int) -> Context:
    """The chart up to now. Three queries."""
    drawn, total = points.points_of(attempt.pk, TOKENS, up_to=up_to)
    budgets = {row.dataset: row.budget for row in runs.datasets_of(attempt.pk)}
    return {"figure": tokens_figure(drawn, budgets), "points_drawn": len(drawn), "points_total": total}


def points_after(attempt_id: int, after: int, *, up_to: int | None = None, limit: int = points.LIMIT) -> list[Entry]:
    return list(points.points_after(attempt_id, TOKENS, after, up_to=up_to, limit=limit))


def points_within(attempt: Attempt, lines: Collection[str], low: int, high: int) -> Window:
    """By milliseconds; a dataset is a line. One query."""
    found, total = points.points_between(attempt.pk, [TOKENS], low, high)
    return Window(lines={series: own for (_, series), own in found.items() if series in lines}, total=total)


def slow(run: Run, attempt: Attempt, forecast: bool) -> Context:
    return burn_down.context(run, attempt, forecast=forecast)


PART = StagePart(
    template="runs/stages/_generate.html",
    facts="runs/facts/_generate.html",
    fragments={
        "run-datasets": "runs/_datasets.html",
        "c-answers": "runs/_lengths.html",
        "c-burn": "runs/_burn_figure.html",
        "burn-note": "runs/_burn_note.html",
        "bu-changes": "budgets/_changes.html",
    },
    context=context,
    details=details,
    slow=slow,
    points_after=points_after,
    points_within=points_within,
    asks_engines=True,
)
