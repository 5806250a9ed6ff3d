"""The comments below a run or a checkpoint, as one person sees them: with the buttons of their own ones."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.safestring import SafeString

from eagle3web import markdown
from eagle3web.domain import comments as verbs
from eagle3web.models import Checkpoint, Comment, Run, User
from eagle3web.queries import talk

SHOWN = 50
"""Comments at once; earlier ones are a step away."""


@dataclass(frozen=True, kw_only=True)
class ShownComment:
    comment: Comment
    html: SafeString
    may_edit: bool
    may_remove: bool


def shown_comment(comment: Comment, user: User) -> ShownComment:
    return ShownComment(
        comment=comment,
        html=markdown.render(comment.text),
        may_edit=verbs.may_edit(comment, user),
        may_remove=verbs.may_remove(comment, user),
    )


def comments_of(about: Run | Checkpoint, user: User, *, before: int | None = None) -> dict[str, Any]:
    """What `talk/_list.html` needs: the newest SHOWN ones, or those before one. Two queries."""
    where: dict[str, Any] = {"run": about.pk} if isinstance(about, Run) else {"checkpoint": about.pk}
    rows = talk.comments(**where)
    if before is not None:
        rows = rows.filter(pk__lt=before)
    newest = list(rows.order_by("-id")[: SHOWN + 1])
    shown = newest[:SHOWN][::-1]
    return {
        "comments": [shown_comment(comment, user) for comment in shown],
        "comments_stamp": talk.stamp(**where),
        "comments_href": place_of_comments(about),
        "comments_before": shown[0].pk if len(newest) > SHOWN else None,
        "comments_are_earlier": before is not None,
    }


def place_of_comments(about: Run | Checkpoint) -> str:
    return reverse("run-comments" if isinstance(about, Run) else "checkpoint-comments", args=[about.pk])


def place_of(about: Run | Checkpoint) -> str:
    """The page on which the comments stand."""
    return f"{reverse('run' if isinstance(about, Run) else 'checkpoint', args=[about.pk])}#comments-card"
