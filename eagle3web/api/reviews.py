"""What the team thinks of a checkpoint. The rules stand in eagle3web.domain.reviews."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, Paging, SomeText, Text, page
from eagle3web.api.errors import Problem
from eagle3web.domain import reviews
from eagle3web.models import Checkpoint, CheckpointReview

router = Router(tags=["reviews"])


class ReviewOut(Out):
    state: str
    """proposed, approved or rejected."""
    note: str
    author: str | None = Field(None, alias="author.username")
    at: datetime


class Note(Body):
    note: Annotated[Text, Field(max_length=reviews.NOTE_LIMIT)] = ""


class Reason(Body):
    note: Annotated[SomeText, Field(min_length=1, max_length=reviews.NOTE_LIMIT)]
    """Why."""


SAID = {200: ReviewOut, 409: Problem}


@router.get("/{checkpoint_id}/reviews", auth=may("view_checkpointreview"), response=Page[ReviewOut])
def list_reviews(request: HttpRequest, checkpoint_id: Id, paging: Query[Paging]) -> dict[str, Any]:
    """What was said of it, the newest first."""
    row = get_object_or_404(Checkpoint.objects.only("pk"), pk=checkpoint_id)
    return page(CheckpointReview.objects.filter(checkpoint=row).select_related("author").order_by("-id"), paging)


@router.post("/{checkpoint_id}/propose", auth=may("change_checkpoint"), response=SAID)
def propose_checkpoint(request: HttpRequest, checkpoint_id: Id, fields: Note) -> CheckpointReview:
    """Ask others to approve it."""
    return reviews.propose(_find(checkpoint_id), user=user_of(request), note=fields.note)


@router.post("/{checkpoint_id}/approve", auth=may("change_checkpoint"), response=SAID)
def approve_checkpoint(request: HttpRequest, checkpoint_id: Id, fields: Note) -> CheckpointReview:
    """Find it good enough. 409 for who proposed it, unless nobody else may review."""
    return reviews.approve(_find(checkpoint_id), user=user_of(request), note=fields.note)


@router.post("/{checkpoint_id}/reject", auth=may("change_checkpoint"), response=SAID)
def reject_checkpoint(request: HttpRequest, checkpoint_id: Id, fields: Reason) -> CheckpointReview:
    """Find it not good enough, or take an approval back."""
    return reviews.reject(_find(checkpoint_id), user=user_of(request), note=fields.note)


def _find(checkpoint_id: int) -> Checkpoint:
    return get_object_or_404(Checkpoint.objects.select_related("run"), pk=checkpoint_id)
