"""Runs: list, create, steer. What each verb does stands in eagle3web.domain.runs."""

import logging
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from kombu.exceptions import OperationalError as BrokerAway
from ninja import Field, Query, Router, Status

from eagle3web import tasks
from eagle3web.api.attempts import AttemptOut, ShownOut
from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, page
from eagle3web.api.errors import Problem
from eagle3web.api.new_runs import CONCURRENCY, NewRun, start
from eagle3web.api.run_filter import RunFilter, all_runs, chosen
from eagle3web.domain import runs, serving
from eagle3web.domain.clock import database_now
from eagle3web.domain.shown import shown_run
from eagle3web.domain.waits import waits
from eagle3web.models import Attempt, Checkpoint, Project, Run

router = Router(tags=["runs"])
log = logging.getLogger(__name__)


class RunOut(Out):
    id: int
    project: str = Field(alias="project.slug")
    stage: str
    title: str
    tags: list[str]
    tokens: int
    """Completion tokens on disk, of the last attempt."""
    loss: float | None
    """Held-out, the best."""
    accept_length: float | None
    """Decoded, the best."""
    speedup: float | None
    """Over all datasets, the best."""
    status: str
    shown: ShownOut
    paused: bool
    host: str
    host_tags: list[str]
    devices: list[str]
    config_hash: str
    author: str | None = Field(None, alias="author.username")
    created_at: datetime
    queued_at: datetime
    """When it was last queued: made, or resumed."""
    settled_at: datetime | None
    """Since when a failed or lost run is left as it is."""
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
    retry_errors: bool = False
    """Ask prompts again that gave an error in an earlier run."""


class Concurrency(Body):
    n: int = Field(ge=1, le=CONCURRENCY)


class Drafter(Body):
    checkpoint: int | None = Field(ge=1, le=2**63 - 1)
    """Key of a checkpoint of the project; null for plain decoding."""


STEERING = {200: RunOut, 409: Problem}


@router.get("", auth=may("view_run"), response=Page[RunOut])
def list_runs(request: HttpRequest, query: Query[RunFilter]) -> dict[str, Any]:
    """Newest first."""
    found = page(chosen(query), query)
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


@router.post("/{run_id}/settle", auth=may("change_run"), response=STEERING)
def settle_run(request: HttpRequest, run_id: Id) -> Run:
    """Leave a run that failed, was lost, or ended with errors as it is: it is no longer listed among what needs somebody."""
    runs.settle(find(run_id), user=user_of(request))
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


@router.post("/{run_id}/drafter", auth=may("change_run"), response=STEERING)
def swap_drafter(request: HttpRequest, run_id: Id, fields: Drafter) -> Run:
    """Let a server draft with another checkpoint: it is drained and started again, and later attempts start so, too."""
    run = find(run_id)
    checkpoint = get_object_or_404(Checkpoint, pk=fields.checkpoint) if fields.checkpoint is not None else None
    serving.swap_drafter(run, checkpoint, user=user_of(request))
    return find(run_id)


@router.post("/{run_id}/clone", auth=may("add_run"), response={201: RunOut})
def clone_run(request: HttpRequest, run_id: Id, fields: CloneChanges) -> Status[Run]:
    """A new run like this one, with what the body changes."""
    run = runs.clone(find(run_id), user=user_of(request), changes=fields.changes())
    launch(run)
    return Status(201, find(run.pk))


def find(run_id: int) -> Run:
    return judged([get_object_or_404(all_runs(), pk=run_id)])[0]


def judged(found: Iterable[Any]) -> list[Run]:
    """The runs with the word that the screen shows, by their last attempts; two queries for all, and five for the queued."""
    rows = list(found)
    attempts = Attempt.objects.defer("config").in_bulk([run.last_attempt_id for run in rows if run.last_attempt_id])
    waiting = waits(rows)
    now = database_now()
    for run in rows:
        run.shown = shown_run(run, attempts.get(run.last_attempt_id), now, waits=waiting.get(run.pk, ""))
    return rows


def launch(run: Run) -> None:
    """Send the run to the workers. A broker that is away only delays it: the next reconcile finds a queued run."""
    try:
        tasks.launch_soon(run)
    except BrokerAway as error:
        log.warning("run %s waits for the next reconcile: %s", run.pk, error)
