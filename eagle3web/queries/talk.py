"""Comments on a run or a checkpoint."""

from django.db.models import Count, Max, QuerySet

from eagle3web.models import Comment


def comments(*, run: int | None = None, checkpoint: int | None = None) -> QuerySet[Comment]:
    """The oldest first, removed ones too."""
    rows = Comment.objects.filter(checkpoint=checkpoint) if run is None else Comment.objects.filter(run=run)
    return rows.select_related("author").order_by("id")


def stamp(*, run: int | None = None, checkpoint: int | None = None) -> str:
    """Changes whenever a comment is added, edited or removed. One query."""
    rows = comments(run=run, checkpoint=checkpoint).order_by()
    found = rows.aggregate(n=Count("pk"), edited=Max("edited_at"), removed=Max("removed_at"))
    moments = [found[name].timestamp() if found[name] else 0 for name in ("edited", "removed")]
    return f"{found['n']}.{max(moments):.6f}"
