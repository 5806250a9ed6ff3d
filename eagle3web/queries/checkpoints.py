"""Checkpoints with what is needed to show them."""

from django.db.models import Q, QuerySet

from eagle3web.enums import Review
from eagle3web.models import Checkpoint, CheckpointReview


def of_project(project_id: int, *, deleted: bool = False) -> QuerySet[Checkpoint]:
    """The promoted one first, then the newest; without the long texts. With `deleted` those whose files are gone, too."""
    rows = light(Checkpoint.objects.filter(project=project_id)).order_by("-promoted", "-id")
    return rows if deleted else rows.filter(Q(removed_at=None) | Q(promoted=True))


def count_deleted(project_id: int) -> int:
    return Checkpoint.objects.filter(project=project_id, removed_at__isnull=False, promoted=False).count()


def of_run(run_id: int) -> list[Checkpoint]:
    """The newest step first, deleted ones too. One query."""
    return list(light(Checkpoint.objects.filter(run=run_id)).order_by("-step", "-id")[:100])


def find(checkpoint_id: int) -> Checkpoint:
    """Raises Checkpoint.DoesNotExist. One query."""
    return Checkpoint.objects.select_related("project", "run", "run__author", "attempt").get(pk=checkpoint_id)


def proposed(project_id: int) -> list[Checkpoint]:
    """Those that wait for a word, the newest first. One query."""
    rows = Checkpoint.objects.filter(project=project_id, review=Review.PROPOSED, removed_at=None).order_by("-id")
    return list(rows.only("run_id", "step")[:5])


def reviews_of(checkpoint_id: int) -> list[CheckpointReview]:
    """What was said of it, the newest first. One query."""
    return list(CheckpointReview.objects.filter(checkpoint=checkpoint_id).select_related("author").order_by("-id")[:100])


def light(rows: QuerySet[Checkpoint]) -> QuerySet[Checkpoint]:
    """Without the long texts, with what the list shows beside them."""
    return rows.select_related("run", "attempt").defer("card", "run__config", "attempt__config", "attempt__versions")
