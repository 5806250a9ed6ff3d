"""Checkpoints: list, one with its manifest, promotion."""

from datetime import datetime
from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, Paging, Slug, page
from eagle3web.domain import checkpoints
from eagle3web.models import Checkpoint
from eagle3web.pages.checkpoints import serving_command

router = Router(tags=["checkpoints"])


class CheckpointOut(Out):
    id: int
    project: str = Field(alias="project.slug")
    run: int = Field(alias="run_id")
    attempt: int = Field(alias="attempt_id")
    host: str = Field(alias="attempt.host")
    """Has the files."""
    step: int
    path: str
    bytes: int
    metrics: dict[str, Any]
    """eval_loss, simulated_accept_length (teacher-forced), accept_length (decoded); both lengths count the bonus token."""
    best: bool
    """The best of its run, as training judges it."""
    promoted: bool
    """The project's choice."""
    review: str
    """proposed, approved or rejected; empty while nobody proposed it."""
    saved_at: datetime
    removed_at: datetime | None
    """When training deleted the files."""


class CheckpointDetail(CheckpointOut):
    manifest: dict[str, Any]
    card: str
    """README.md of the folder."""
    launch_command: str
    """What serves the target with this drafter in SGLang."""

    @staticmethod
    def resolve_launch_command(checkpoint: Checkpoint) -> str:
        measured = checkpoint.benchmark_rows.filter(mode="drafter", dataset="").order_by("-attempt", "-tokens_per_s").first()
        return serving_command(checkpoint, measured.shape if measured else "")


class CheckpointFilter(Paging):
    project: Slug | None = None
    run: int | None = Field(None, ge=1, le=2**63 - 1)
    promoted: bool | None = None
    review: Literal["", "proposed", "approved", "rejected"] | None = None
    """"" finds those that nobody proposed."""


class Promotion(Body):
    anyway: bool = False
    """Promote it although nobody approved it."""


@router.get("", auth=may("view_checkpoint"), response=Page[CheckpointOut])
def list_checkpoints(request: HttpRequest, query: Query[CheckpointFilter]) -> dict[str, Any]:
    """The newest first; deleted ones are listed too, with when that was."""
    rows = Checkpoint.objects.select_related("project", "attempt").defer("card", "manifest")
    if query.project is not None:
        rows = rows.filter(project__slug=query.project)
    if query.run is not None:
        rows = rows.filter(run=query.run)
    if query.promoted is not None:
        rows = rows.filter(promoted=query.promoted)
    if query.review is not None:
        rows = rows.filter(review=query.review)
    return page(rows, query)


@router.get("/{checkpoint_id}", auth=may("view_checkpoint"), response=CheckpointDetail)
def get_checkpoint(request: HttpRequest, checkpoint_id: Id) -> Checkpoint:
    return get_object_or_404(Checkpoint.objects.select_related("project", "attempt"), pk=checkpoint_id)


@router.post("/{checkpoint_id}/promote", auth=may("change_checkpoint"), response=CheckpointOut)
def promote_checkpoint(request: HttpRequest, checkpoint_id: Id, fields: Promotion) -> Checkpoint:
    """Make it the project's drafter, in place of the one that was.

    409 when its files are deleted, and when nobody approved it, unless `anyway` says that this is known.
    """
    row = get_object_or_404(Checkpoint.objects.select_related("project", "attempt"), pk=checkpoint_id)
    checkpoints.promote(row, user=user_of(request), anyway=fields.anyway)
    return row
