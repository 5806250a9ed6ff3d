"""Runs: list, create, steer. What each verb does stands in eagle3web.domain.runs."""

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from kombu.exceptions import OperationalError as BrokerAway
from ninja import Field, Query, Router, Status

from eagle3web import tasks
from eagle3web.api.attempts import AttemptOut, ShownOut
from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, Paging, Text, page
from eagle3web.api.errors import Problem
from eagle3web.api.new_runs import CONCURRENCY, NewRun, start
from eagle3web.domain import leases, lineage, runs
from eagle3web.domain.clock import database_now
from eagle3web.domain.shown import shown_run
from eagle3web.enums import RunStatus
from eagle3web.models import Attempt, Project, Run

router = Router(tags=["runs"])
log = logging.getLogger(__name__)


class RunOut(Out):
    id: int
    project: str = Field(alias="project.slug")
    stage: str
    title: str
    tags: list[str]
    status: str
    shown: ShownOut
    paused: bool
    host: str
    devices: list[str]
    config_hash: str
    author: str | None = Field(None, alias="author.username")
    created_at: datetime
    stop_requested_at: datetime | None
    stop_requested_by: str | None = Field(None, alias="stop_requested_by.username")
    cloned_from: int | None = Field(alias="cloned_from_id")
    last_attempt: int | None = Field(alias="last_attempt_id")
    """Id of the newest attempt."""


class InputOut(Out):
    kind: str
    """prompts, responses, hidden or checkpoint."""
    source: int | None = Field(None, alias="source_id")
    """The run that makes it; null for prompts."""
    ref: dict[str, Any]
    """Dataset slug → revision hash; the `step` of a checkpoint that was chosen."""


class RunDetail(RunOut):
    config: dict[str, Any]
    inputs: list[InputOut]
    """What it is made of."""
    attempts: list[AttemptOut]
    """Oldest first."""


class CloneChanges(Body):
    concurrency: int = Field(8, ge=1, le=CONCURRENCY)
    order: Literal["sequential", "interleaved"] = "sequential"


class Concurrency(Body):
    n: int = Field(ge=1, le=CONCURRENCY)


class RunFilter(Paging):
    project: Text = ""
    stage: Text = ""
    status: list[Text] = Field([], max_length=10)
    """Any of these; `live` stands for queued, starting, running and stopping."""
    tag: Text = ""
    author: Text = ""
    q: Text = Field("", max_length=200)
    """Part of the title, the run's number, or its config hash."""


STEERING = {200: RunOut, 409: Problem}


@router.get("", auth=may("view_run"), response=Page[RunOut])
def list_runs(request: HttpRequest, query: Query[RunFilter]) -> dict[str, Any]:
    """Newest first."""
    rows = _runs()
    for field, lookup in {"project": "project__slug", "stage": "stage", "author": "author__username"}.items():
        if value := getattr(query, field):
            rows = rows.filter(**{lookup: value})
    if query.status:
        rows = rows.filter(status__in=_statuses(query.status))
    if query.q:
        number = Q(pk=int(query.q)) if query.q.isascii() and query.q.isdigit() and len(query.q) < 19 else Q()
        rows = rows.filter(Q(title__icontains=query.q) | Q(config_hash=query.q) | number)
    if query.tag:
        rows = rows.filter(pk__in=[pk for pk, tags in rows.values_list("pk", "tags") if query.tag in tags])
    found = page(rows, query)
    return found | {"items": judged(found["items"])}


@router.post("", auth=may("add_run"), response={201: RunOut})
def create_run(request: HttpRequest, fields: NewRun) -> Status[Run]:
    """Freeze the project's budgets and settings into a run, and queue it. It starts when its sources are finished."""
    project = get_object_or_404(Project, slug=fields.project)
    run = start(project, fields, user_of(request))
    launch(run)
    return Status(201, find(run.pk))


@router.get("/{run_id}", auth=may("view_run"), response=RunDetail)
def get_run(request: HttpRequest, run_id: Id) -> Run:
    return find(run_id)


@router.post("/{run_id}/stop", auth=may("change_run"), response=STEERING)
def stop_run(request: HttpRequest, run_id: Id) -> Run:
    """Ask the run to stop: it saves its work first. Asking again changes nothing."""
    runs.request_stop(find(run_id), user=user_of(request))
    return find(run_id)


@router.post("/{run_id}/resume", auth=may("change_run"), response=STEERING)
def resume_run(request: HttpRequest, run_id: Id) -> Run:
    """Go on with a stopped, failed or lost run: a new attempt, from where the files end."""
    run = find(run_id)
    if runs.resume(run, user=user_of(request)):
        launch(run)
    return find(run_id)


@router.post("/{run_id}/pause", auth=may("change_run"), response=STEERING)
def pause_run(request: HttpRequest, run_id: Id) -> Run:
    """Send no new requests until the run is unpaused; what is in flight is finished."""
    runs.pause(find(run_id), user=user_of(request))
    return find(run_id)


@router.post("/{run_id}/unpause", auth=may("change_run"), response=STEERING)
def unpause_run(request: HttpRequest, run_id: Id) -> Run:
    runs.unpause(find(run_id), user=user_of(request))
    return find(run_id)


@router.post("/{run_id}/concurrency", auth=may("change_run"), response=STEERING)
def set_concurrency(request: HttpRequest, run_id: Id, fields: Concurrency) -> Run:
    """Change how many requests are in flight, while it runs."""
    runs.set_concurrency(find(run_id), fields.n, user=user_of(request))
    return find(run_id)


@router.post("/{run_id}/clone", auth=may("add_run"), response={201: RunOut})
def clone_run(request: HttpRequest, run_id: Id, fields: CloneChanges) -> Status[Run]:
    """A new run like this one, with what the body changes."""
    run = runs.clone(find(run_id), user=user_of(request), changes=fields.changes())
    launch(run)
    return Status(201, find(run.pk))


def _runs() -> QuerySet[Any]:
    newest = Attempt.objects.filter(run=OuterRef("pk")).order_by("-number").values("pk")[:1]
    return Run.objects.select_related("project", "author", "stop_requested_by").annotate(last_attempt_id=Subquery(newest))


def find(run_id: int) -> Run:
    return judged([get_object_or_404(_runs(), pk=run_id)])[0]


def judged(found: Iterable[Any]) -> list[Run]:
    """The runs with the word that the screen shows, by their last attempts; two queries for all."""
    rows = list(found)
    attempts = Attempt.objects.defer("config").in_bulk([run.last_attempt_id for run in rows if run.last_attempt_id])
    held = lineage.held(run for run in rows if run.status == RunStatus.QUEUED)
    now = database_now()
    for run in rows:
        holder = leases.holder(run) if run.status == RunStatus.QUEUED else None
        attempt = attempts.get(run.last_attempt_id)
        run.shown = shown_run(run, attempt, now, held=held.get(run.pk, ""), holder=holder)
    return rows


def _statuses(names: Iterable[str]) -> set[str]:
    wanted = set(names)
    return wanted - {"live"} | RunStatus.LIVE if "live" in wanted else wanted


def launch(run: Run) -> None:
    """Send the run to the workers. A broker that is away only delays it: the next reconcile finds a queued run."""
    try:
        tasks.launch_soon(run)
    except BrokerAway as error:
        log.warning("run %s waits for the next reconcile: %s", run.pk, error)
