"""A list of runs as a file: CSV for spreadsheets, JSON for programs, made in pieces so that any number of runs fits."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.db.models import QuerySet

from eagle3web import spreadsheets
from eagle3web.models import Attempt, Run
from eagle3web.queries.run_list import seconds_worked
from eagle3web.streams import json_array

PIECE = 500
"""Runs that are in memory at a time."""
FIELDS = (
    "run", "project", "stage", "title", "state", "reason", "tags", "notes", "tokens", "loss", "accept_length", "speedup",
    "host", "author", "created_at", "started_at", "ended_at", "worked_s", "attempts", "cloned_from", "config_hash",
)  # fmt: skip


def as_csv(runs: QuerySet[Run]) -> Iterator[bytes]:
    """With a header line. Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    return spreadsheets.file(FIELDS, ([_cell(record[name]) for name in FIELDS] for record in records(runs)))


def as_json(runs: QuerySet[Run]) -> Iterator[bytes]:
    """One array, an object a line."""
    return json_array(records(runs))


def records(runs: QuerySet[Run]) -> Iterator[dict[str, Any]]:
    """FIELDS of every run, in order. Four queries for every PIECE of them, and one for their numbers."""
    numbers = list(runs.values_list("pk", flat=True))
    for first in range(0, len(numbers), PIECE):
        some = numbers[first : first + PIECE]
        found = Run.objects.select_related("author", "project").defer("config", "project__chat_template").in_bulk(some)
        last, worked = _last_attempts(some), seconds_worked(some)
        for number in some:
            if number in found:
                yield _record(found[number], last.get(number), worked.get(number))


def _last_attempts(run_ids: Sequence[int]) -> dict[int, Attempt]:
    rows = Attempt.objects.filter(run__in=run_ids).order_by("run", "number")
    return {row.run_id: row for row in rows.only("run", "number", "host", "reason", "started_at", "ended_at")}


def _record(run: Run, attempt: Attempt | None, worked_s: float | None) -> dict[str, Any]:
    def moment(name: str) -> str | None:
        at = getattr(attempt, name, None)
        return at.isoformat() if at else None

    return {
        "run": run.pk,
        "project": run.project.slug,
        "stage": run.stage,
        "title": run.title,
        "state": run.status,
        "reason": attempt.reason if attempt else "",
        "tags": run.tags,
        "notes": run.notes,
        "tokens": run.tokens,
        "loss": run.loss,
        "accept_length": run.accept_length,
        "speedup": run.speedup,
        "host": attempt.host if attempt else run.host,
        "author": run.author.get_username() if run.author else None,
        "created_at": run.created_at.isoformat(),
        "started_at": moment("started_at"),
        "ended_at": moment("ended_at"),
        "worked_s": worked_s,
        "attempts": attempt.number if attempt else 0,
        "cloned_from": run.cloned_from_id,
        "config_hash": run.config_hash,
    }


def _cell(value: Any) -> object:  # noqa: ANN401  (a JSON value)
    return ", ".join(str(part) for part in value) if isinstance(value, list) else value
