"""Two to six runs beside one another: key results, configs, curves, datasets, measurements."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from eagle3web import formats
from eagle3web.charts.compare import Line, compare_figure
from eagle3web.enums import Stage
from eagle3web.models import Attempt, Project, Run
from eagle3web.pages.compare_tables import dataset_rows, result_rows
from eagle3web.pages.config_diff import config_diff
from eagle3web.pages.run_rows import RunRow, describe
from eagle3web.queries import compare
from eagle3web.queries.sampling import min_max

CURVES = (
    ("eval_loss", "Held-out loss", "held-out loss", True),
    ("loss", "Training loss", "training loss", True),
    ("accept_length", "Accept length, decoded", "accept length", False),
    ("tokens_per_s", "Tokens a second", "tokens/s", True),
)
"""Metric, heading, axis, whether it may be smoothed."""
UNITS = (("days", 24.0), ("hours", 1.0), ("minutes", 1 / 60))
"""Of a time axis, in hours."""
POINTS = 1500
"""Of one line; more are thinned."""


@dataclass(frozen=True)
class Fact:
    """One row of the key results."""

    label: str
    cells: list[str]
    best: int | None = None
    """Place of the best one, where one is better than the others."""


@dataclass(frozen=True)
class Chart:
    key: str
    title: str
    figure: dict[str, Any]
    note: str
    smooths: bool


def compare_context(project: Project, numbers: Sequence[int], now: datetime, *, everything: bool) -> dict[str, Any]:
    """About four queries for each run, and ten more."""
    runs = compare.runs_in_order(project.pk, numbers)
    rows = describe(runs, now)
    attempts = [row.attempt for row in rows if row.attempt]
    diff = config_diff(runs)
    return {
        "project": project,
        "rows": rows,
        "enough": len(runs) >= compare.FEWEST,
        "most": compare.MOST,
        "facts": facts(rows),
        "keys": diff.rows if everything else diff.different,
        "same_keys": diff.same,
        "everything": everything,
        "charts": charts(runs, attempts),
        "datasets": dataset_rows(runs, attempts),
        "results": result_rows(runs, attempts),
        "stages": sorted({run.stage for run in runs}),
        "now": now,
        "without": [(run, ",".join(str(other.pk) for other in runs if other is not run)) for run in runs],
    }


def facts(rows: Sequence[RunRow]) -> list[Fact]:
    """What lists sort by, and what people ask next; rows that no run has anything to say to are left out."""
    runs = [row.run for row in rows]
    metrics: tuple[tuple[str, str, Callable[[float | None], str], Callable[..., Any]], ...] = (
        ("Speedup", "speedup", formats.times, max),
        ("Accept length, decoded", "accept_length", formats.decimal, max),
        ("Held-out loss", "loss", formats.decimal, min),
    )
    found = [_metric(label, [getattr(run, name) for run in runs], write, best) for label, name, write, best in metrics]
    found += [
        Fact("Tokens", [formats.tokens(run.tokens) if run.tokens else formats.UNKNOWN for run in runs]),
        Fact("Done", [row.result or formats.UNKNOWN for row in rows]),
        Fact("Took", [formats.duration(row.worked_s) for row in rows]),
        Fact("Host", [row.attempt.host if row.attempt else formats.UNKNOWN for row in rows]),
        Fact("Author", [row.run.author.get_username() if row.run.author else formats.UNKNOWN for row in rows]),
    ]
    return [fact for fact in found if any(cell != formats.UNKNOWN for cell in fact.cells)]


def _metric(label: str, values: list[float | None], write: Callable[[float | None], str], best: Callable[..., Any]) -> Fact:
    known = [value for value in values if value is not None]
    top = best(known) if len(set(known)) > 1 else None
    return Fact(label, [write(value) for value in values], values.index(top) if top is not None else None)


def charts(runs: Sequence[Run], attempts: Sequence[Attempt]) -> list[Chart]:
    """One for each metric that any of the runs drew."""
    places = {run.pk: place for place, run in enumerate(runs)}
    drawn = compare.curves_of_runs(attempts, [metric for metric, *_ in CURVES])
    found = []
    for metric, title, axis, smooths in CURVES:
        lines = [
            Line(place=places[run_id], run=run_id, points=min_max(curves.lines[metric], POINTS))
            for run_id, curves in drawn.items()
            if curves.lines.get(metric) and (metric != "tokens_per_s" or "loss" in curves.lines)
        ]
        if lines:
            figure = compare_figure(lines, x="step", y=axis, digits=0 if metric == "tokens_per_s" else 2, smooths=smooths)
            found.append(Chart(f"c-{metric}", title, figure, _note(lines), smooths))
    generated = [
        Line(place=places[attempt.run_id], run=attempt.run_id, points=points)
        for attempt in attempts
        if runs[places[attempt.run_id]].stage == Stage.GENERATE and (points := compare.tokens_over_time(attempt))
    ]
    if generated:
        unit, lines = _in_readable_time(generated)
        figure = compare_figure(lines, x=f"{unit} since the last attempt started", y="tokens on disk", digits=0)
        found.append(
            Chart("c-generated", "Tokens over time", figure, "Over all datasets; each line from its own start.", False)
        )
    return found


def _in_readable_time(lines: Sequence[Line]) -> tuple[str, list[Line]]:
    """Lines over hours, over the unit that gives the longest of them numbers of one to three digits."""
    longest = max(x for line in lines for x, _ in line.points)
    unit, hours = next((each for each in UNITS if longest >= 2 * each[1]), UNITS[-1])
    return unit, [replace(line, points=[(x / hours, y) for x, y in line.points]) for line in lines]


def _note(lines: Sequence[Line]) -> str:
    long = any(len(line.points) >= POINTS - 2 for line in lines)
    sampled = " Of long lines the peaks and dips are drawn." if long else ""
    return f"By optimizer step; the axis need not start at zero.{sampled}"
