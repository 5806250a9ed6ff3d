"""What people remark about a run or a checkpoint. Who wrote it changes it; a superuser can only take it away."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone

from eagle3web.domain import attempts, audit
from eagle3web.domain.event_lines import clean
from eagle3web.models import Checkpoint, Comment, Run, User

TEXT_LIMIT = 10_000
"""Characters of one comment."""


def add(about: Run | Checkpoint, text: str, *, user: User) -> Comment:
    """Say something, in Markdown. Viewers of the thing are poked. Raises ValueError for no text, or more than TEXT_LIMIT."""
    where: dict[str, Any] = {"run": about} if isinstance(about, Run) else {"checkpoint": about}
    with transaction.atomic():
        comment = Comment.objects.create(author=user, text=_text(text), **where)
        audit.record(user, "comment.add", comment, about=str(about))
        attempts.announce(run_of(comment))
    return comment


def edit(comment: Comment, text: str, *, user: User) -> bool:
    """Change one's own comment; the page says that it was edited. False: nothing is different.

    Raises PermissionDenied for another's or a removed one, ValueError as `add`.
    """
    if not may_edit(comment, user):
        raise PermissionDenied("only who wrote a comment changes it")
    new = _text(text)
    if new == comment.text:
        return False
    with transaction.atomic():
        comment.text, comment.edited_at = new, timezone.now()
        comment.save(update_fields=["text", "edited_at"])
        audit.record(user, "comment.edit", comment, about=str(comment.run or comment.checkpoint))
        attempts.announce(run_of(comment))
    return True


def remove(comment: Comment, *, user: User) -> bool:
    """Empty it: that somebody wrote here stays. False: it was removed already. Raises PermissionDenied for another's."""
    if comment.removed_at is not None:
        return False
    if not may_remove(comment, user):
        raise PermissionDenied("a comment is removed by who wrote it, or by a superuser")
    with transaction.atomic():
        comment.text, comment.removed_at = "", timezone.now()
        comment.save(update_fields=["text", "removed_at"])
        about = str(comment.run or comment.checkpoint)
        audit.record(user, "comment.remove", comment, about=about, author=str(comment.author or ""))
        attempts.announce(run_of(comment))
    return True


def may_edit(comment: Comment, user: User) -> bool:
    return comment.author_id == user.pk and comment.removed_at is None


def may_remove(comment: Comment, user: User) -> bool:
    return comment.removed_at is None and (comment.author_id == user.pk or user.is_superuser)


def run_of(comment: Comment) -> Run:
    """The run whose pages show it: its own, or the one that saved its checkpoint."""
    run = comment.checkpoint.run if comment.checkpoint is not None else comment.run
    assert run is not None  # noqa: S101  (a constraint of the table; this tells the type checker)
    return run


def _text(text: str) -> str:
    found = str(clean(text)).replace("\r\n", "\n").strip()
    if not found:
        raise ValueError("an empty comment says nothing")
    if len(found) > TEXT_LIMIT:
        raise ValueError(f"a comment has at most {TEXT_LIMIT} characters")
    return found
