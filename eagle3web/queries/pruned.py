"""What was thrown away, for the pages of what it belonged to."""

from collections.abc import Iterable

from django.db.models import Count, QuerySet, Sum

from eagle3web.enums import Prunable
from eagle3web.models import Pruned


def of_attempt(attempt_id: int) -> dict[str, Pruned]:
    """Kind → when and why, of an attempt's logs, events and points. One query."""
    return {row.kind: row for row in Pruned.objects.filter(attempt=attempt_id)}


def shards_of(run_id: int) -> Pruned | None:
    """When and why the hidden states of an extraction went. One query."""
    return Pruned.objects.filter(run=run_id, kind=Prunable.SHARDS).order_by("pk").first()


def shards_of_runs(runs: Iterable[int]) -> dict[int, Pruned]:
    """As `shards_of`, for several. One query."""
    rows = Pruned.objects.filter(run__in=list(runs), kind=Prunable.SHARDS).order_by("-pk")
    return {row.run_id: row for row in rows}


def of_checkpoint(checkpoint_id: int) -> Pruned | None:
    """None for one that is there, or that training itself deleted. One query."""
    return Pruned.objects.filter(checkpoint=checkpoint_id).first()


def of_checkpoints(keys: Iterable[int]) -> set[int]:
    """Those of these checkpoints that a rule threw away. One query."""
    return set(Pruned.objects.filter(checkpoint__in=list(keys)).values_list("checkpoint", flat=True))


def newest(limit: int) -> QuerySet[Pruned]:
    """What was thrown away last."""
    return Pruned.objects.select_related("run__project", "attempt", "checkpoint", "author").order_by("-pk")[:limit]


def waiting() -> list[tuple[str, int, int]]:
    """Host, things and bytes of what is given up and still there. One query."""
    rows = Pruned.objects.filter(removed_at=None).order_by("host").values("host")
    return list(rows.annotate(n=Count("pk"), size=Sum("bytes")).values_list("host", "n", "size"))
