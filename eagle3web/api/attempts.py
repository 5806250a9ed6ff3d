"""What an attempt is and what it said: state, datasets, events, decisions, metric points. Its log: eagle3web.api.logs."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema

from eagle3web.api.auth import may
from eagle3web.api.base import Id, Out, Page, Paging, Text, page
from eagle3web.domain.clock import database_now
from eagle3web.domain.shown import shown_state
from eagle3web.models import Attempt, DatasetProgress, Event, MetricPoint

router = Router(tags=["attempts"])

DECISIONS = (
    "dataset_skipped", "dataset_finished", "budget_applied", "concurrency_applied", "engine_changed", "checkpoint_saved",
    "warning", "stage_interrupted", "stage_failed", "stage_finished",
)  # fmt: skip
"""Kinds of events that say why something was done or left out."""


class ShownOut(Out):
    """The word on the screen. Ages are seconds; null where there is no clock."""

    state: str
    """queued, starting, running, waiting, silent, unresponsive, paused, stopping, finished, stopped, failed, lost."""
    words: str
    alive_age: float | None
    """Since the stage's loop last turned."""
    heartbeat_age: float | None
    """Since the supervisor was last heard."""
    progress_age: float | None
    """Since something countable last moved."""


class AttemptOut(Out):
    id: int
    run: int = Field(alias="run_id")
    number: int
    status: str
    shown: ShownOut
    reason: str
    host: str
    pid: int | None
    supervisor_pid: int | None
    exit_code: int | None
    signal: int | None
    argv: list[str]
    git_sha: str
    versions: dict[str, Any]
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    last_seq: int
    """Number of the last stored event."""
    log_bytes: int
    log_lines: int
    counters: dict[str, Any]
    """How far extraction, training or a benchmark is: the fields of its last events, by kind."""
    summary: dict[str, Any]

    @staticmethod
    def resolve_shown(attempt: Attempt) -> object:
        return shown_state(attempt, database_now())


class AttemptDetail(AttemptOut):
    config: dict[str, Any]


class ProgressOut(Out):
    """One dataset in one attempt. Counts are of records on disk."""

    dataset: str
    position: int
    state: str
    reason: str
    total: int
    done: int
    errors: int
    truncated: int
    tokens: int
    budget: int | None
    max_samples: int | None
    budget_version: int
    """The version that the process acknowledged."""
    in_flight: int
    in_flight_tokens: int
    requests_per_s: float
    tokens_per_s: float
    mean_completion: float
    longest: int
    finish_reasons: dict[str, int]
    eta_s: float | None
    updated_at: datetime | None


class EventOut(Out):
    seq: int
    t: datetime
    kind: str
    payload: dict[str, Any]


class Events(Out):
    items: list[EventOut]
    next_after: int
    """What to send as `after` to go on."""
    last_seq: int
    """Number of the last event that is stored by now."""


class After(Schema):
    after: int = Field(0, ge=0, le=2**63 - 1)
    limit: int = Field(500, ge=1, le=5000)


class PointFilter(After):
    name: Text = ""
    series: Text = ""


class PointOut(Out):
    id: int
    name: str
    series: str
    t: datetime
    step: int
    value: float


class Points(Out):
    items: list[PointOut]
    next_after: int
    """What to send as `after` to go on: the id of the last point."""


@router.get("/{attempt_id}", auth=may("view_attempt"), response=AttemptDetail)
def get_attempt(request: HttpRequest, attempt_id: Id) -> Attempt:
    return get_object_or_404(Attempt, pk=attempt_id)


@router.get("/{attempt_id}/datasets", auth=may("view_datasetprogress"), response=Page[ProgressOut])
def list_progress(request: HttpRequest, attempt_id: Id, paging: Query[Paging]) -> dict[str, Any]:
    attempt = get_object_or_404(Attempt, pk=attempt_id)
    return page(DatasetProgress.objects.filter(attempt=attempt), paging)


@router.get("/{attempt_id}/events", auth=may("view_event"), response=Events)
def list_events(request: HttpRequest, attempt_id: Id, query: Query[After]) -> dict[str, Any]:
    """Events numbered above `after`, oldest first, as the stage wrote them."""
    return _events(attempt_id, query, kinds=None)


@router.get("/{attempt_id}/decisions", auth=may("view_event"), response=Events)
def list_decisions(request: HttpRequest, attempt_id: Id, query: Query[After]) -> dict[str, Any]:
    """Events that say why something was done or left out, such as a dataset skipped because its budget was met."""
    return _events(attempt_id, query, kinds=DECISIONS)


@router.get("/{attempt_id}/points", auth=may("view_metricpoint"), response=Points)
def list_points(request: HttpRequest, attempt_id: Id, query: Query[PointFilter]) -> dict[str, Any]:
    """Points of the charts with an id above `after`, oldest first."""
    rows = MetricPoint.objects.filter(attempt=get_object_or_404(Attempt, pk=attempt_id), pk__gt=query.after)
    for field in ("name", "series"):
        if value := getattr(query, field):
            rows = rows.filter(**{field: value})
    items = list(rows[: query.limit])
    return {"items": items, "next_after": items[-1].pk if items else query.after}


def _events(attempt_id: int, query: After, kinds: tuple[str, ...] | None) -> dict[str, Any]:
    attempt = get_object_or_404(Attempt, pk=attempt_id)
    rows = Event.objects.filter(attempt=attempt, seq__gt=query.after)
    if kinds is not None:
        rows = rows.filter(kind__in=kinds)
    items = list(rows[: query.limit])
    return {"items": items, "next_after": items[-1].seq if items else query.after, "last_seq": attempt.last_seq}
