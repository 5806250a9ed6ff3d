"""Sample answers that an attempt logged."""

from eagle3web.models import DatasetProgress, Event
from pipeline.events import SampleLogged

PER_PAGE = 6


def samples_of(attempt_id: int, *, dataset: str = "", before: int | None = None) -> tuple[list[Event], bool]:
    """The newest samples, newest first, and whether there are older ones. One query."""
    rows = Event.objects.filter(attempt=attempt_id, kind=SampleLogged.kind)
    if dataset:
        rows = rows.filter(payload__dataset=dataset)
    if before is not None:
        rows = rows.filter(seq__lt=before)
    found = list(rows.order_by("-seq")[: PER_PAGE + 1])
    return found[:PER_PAGE], len(found) > PER_PAGE


def sampled_datasets(attempt_id: int) -> list[str]:
    """Datasets to choose from, in the order of the run. One query."""
    return list(DatasetProgress.objects.filter(attempt=attempt_id, done__gt=0).values_list("dataset", flat=True))
