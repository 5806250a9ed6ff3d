"""What people remark about runs and checkpoints, in Markdown as they wrote it."""

from datetime import datetime
from typing import Annotated, Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Status
from ninja.errors import AuthorizationError

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, Paging, SomeText, page
from eagle3web.domain import comments
from eagle3web.models import Checkpoint, Comment, Run
from eagle3web.queries import talk

router = Router(tags=["comments"])


class CommentOut(Out):
    id: int
    run: int | None = Field(alias="run_id")
    checkpoint: int | None = Field(alias="checkpoint_id")
    author: str | None = Field(None, alias="author.username")
    text: str
    """Markdown; untrusted. Empty once it was removed."""
    created_at: datetime
    edited_at: datetime | None
    removed_at: datetime | None


class CommentText(Body):
    text: Annotated[SomeText, Field(min_length=1, max_length=comments.TEXT_LIMIT)]


@router.get("/runs/{run_id}/comments", auth=may("view_comment"), response=Page[CommentOut])
def list_run_comments(request: HttpRequest, run_id: Id, paging: Query[Paging]) -> dict[str, Any]:
    """The oldest first."""
    return page(talk.comments(run=get_object_or_404(Run.objects.only("pk"), pk=run_id).pk), paging)


@router.post("/runs/{run_id}/comments", auth=may("view_comment"), response={201: CommentOut})
def add_run_comment(request: HttpRequest, run_id: Id, fields: CommentText) -> Status[Comment]:
    return Status(201, comments.add(get_object_or_404(Run, pk=run_id), fields.text, user=user_of(request)))


@router.get("/checkpoints/{checkpoint_id}/comments", auth=may("view_comment"), response=Page[CommentOut])
def list_checkpoint_comments(request: HttpRequest, checkpoint_id: Id, paging: Query[Paging]) -> dict[str, Any]:
    """The oldest first."""
    row = get_object_or_404(Checkpoint.objects.only("pk"), pk=checkpoint_id)
    return page(talk.comments(checkpoint=row.pk), paging)


@router.post("/checkpoints/{checkpoint_id}/comments", auth=may("view_comment"), response={201: CommentOut})
def add_checkpoint_comment(request: HttpRequest, checkpoint_id: Id, fields: CommentText) -> Status[Comment]:
    row = get_object_or_404(Checkpoint.objects.select_related("run"), pk=checkpoint_id)
    return Status(201, comments.add(row, fields.text, user=user_of(request)))


@router.patch("/comments/{comment_id}", auth=may("view_comment"), response=CommentOut)
def edit_comment(request: HttpRequest, comment_id: Id, fields: CommentText) -> Comment:
    """Change one's own comment."""
    comment = _find(comment_id)
    try:
        comments.edit(comment, fields.text, user=user_of(request))
    except PermissionDenied as error:
        raise AuthorizationError(message=f"{error}.") from error
    return comment


@router.delete("/comments/{comment_id}", auth=may("view_comment"), response=CommentOut)
def remove_comment(request: HttpRequest, comment_id: Id) -> Comment:
    """Empty a comment: one's own, or any for a superuser."""
    comment = _find(comment_id)
    try:
        comments.remove(comment, user=user_of(request))
    except PermissionDenied as error:
        raise AuthorizationError(message=f"{error}.") from error
    return comment


def _find(comment_id: int) -> Comment:
    return get_object_or_404(Comment.objects.select_related("author", "run", "checkpoint__run"), pk=comment_id)
