"""Datasets with their revisions."""

from dataclasses import dataclass

from django.db.models import Max, Q

from eagle3web.enums import RevisionState
from eagle3web.models import Dataset, DatasetRevision


@dataclass(frozen=True, kw_only=True)
class DatasetEntry:
    """A dataset as lists show it."""

    dataset: Dataset
    newest: DatasetRevision | None
    """The last import, whatever became of it."""
    ready: DatasetRevision | None
    """What a new run would use."""

    @property
    def importing(self) -> bool:
        return self.newest is not None and self.newest.state == RevisionState.IMPORTING

    @property
    def failed(self) -> bool:
        return self.newest is not None and self.newest.state == RevisionState.FAILED

    @property
    def import_share(self) -> float | None:
        if self.newest is None or not self.newest.bytes_total:
            return None
        return min(1.0, self.newest.bytes_done / self.newest.bytes_total)

    @property
    def import_percent(self) -> str:
        """Width of a bar."""
        return f"{100 * (self.import_share or 0):.2f}"


def all_datasets() -> list[DatasetEntry]:
    """By name. Two queries."""
    return _entries(list(Dataset.objects.order_by("slug")))


def one_dataset(dataset_id: int) -> DatasetEntry:
    """Raises Dataset.DoesNotExist. Two queries."""
    return _entries([Dataset.objects.select_related("created_by").get(pk=dataset_id)])[0]


def _entries(datasets: list[Dataset]) -> list[DatasetEntry]:
    ids = (
        DatasetRevision.objects.filter(dataset__in=datasets)
        .order_by()
        .values("dataset")
        .annotate(newest=Max("pk"), ready=Max("pk", filter=Q(state=RevisionState.READY)))
    )
    wanted = {row["dataset"]: (row["newest"], row["ready"]) for row in ids}
    rows = DatasetRevision.objects.select_related("created_by").in_bulk({pk for pair in wanted.values() for pk in pair if pk})
    found = []
    for dataset in datasets:
        newest, ready = wanted.get(dataset.pk, (None, None))
        found.append(DatasetEntry(dataset=dataset, newest=rows.get(newest or 0), ready=rows.get(ready or 0)))
    return found
