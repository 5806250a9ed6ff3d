"""What people write beside a run: tags, notes, stars. One more operation of the runs' own router."""

from typing import Annotated, Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field

from eagle3web.api.auth import may, require, user_of
from eagle3web.api.base import Body, Id, Text
from eagle3web.api.new_runs import Tag
from eagle3web.api.runs import RunOut, find, router
from eagle3web.domain import labels, stars
from eagle3web.models import Run
from eagle3web.queries.run_list import starred

__all__ = ["router"]


class Marks(Body):
    tags: Annotated[list[Tag], Field(max_length=labels.TAGS)] | None = None
    """All tags of the run."""
    notes: Annotated[Text, Field(max_length=labels.NOTES_LENGTH)] | None = None
    starred: bool | None = None
    """For the caller alone."""


class MarkedRun(RunOut):
    notes: str
    starred: bool
    """By the caller."""


@router.patch("/{run_id}", auth=may("view_run"), response=MarkedRun)
def mark_run(request: HttpRequest, run_id: Id, fields: Marks) -> Any:  # noqa: ANN401  (the run, annotated)
    """Change tags and notes, which needs the right to change runs, or the caller's own star."""
    run, user = get_object_or_404(Run, pk=run_id), user_of(request)
    if fields.tags is not None or fields.notes is not None:
        require(user, "change_run")
    if fields.tags is not None:
        labels.set_tags(run, fields.tags, user=user)
    if fields.notes is not None:
        labels.set_notes(run, fields.notes, user=user)
    if fields.starred is not None:
        (stars.star if fields.starred else stars.unstar)(run, user=user)
    found: Any = find(run_id)
    found.starred = bool(starred(user.pk, [run_id]))
    return found
