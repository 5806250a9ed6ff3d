import pytest

from eagle3web.queries.datasets import all_datasets, one_dataset
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_new_runs_use_the_newest_ready_revision_whatever_became_of_later_imports() -> None:
    dataset = factories.dataset(slug="B1")
    factories.revision(dataset)
    ready = factories.revision(dataset)
    failed = factories.revision(dataset, state="failed", revision="")
    entry = one_dataset(dataset.pk)
    assert (entry.ready, entry.newest, entry.failed, entry.importing) == (ready, failed, True, False)


def test_import_has_a_share_of_its_bytes() -> None:
    revision = factories.revision(state="importing", revision="", bytes_total=200, bytes_done=50)
    entry = one_dataset(revision.dataset_id)
    assert (entry.importing, entry.import_share, entry.import_percent, entry.ready) == (True, 0.25, "25.00", None)


def test_all_datasets_come_by_name_at_the_same_cost(django_assert_num_queries: object) -> None:
    for slug in ("C", "A", "B"):
        factories.revision(factories.dataset(slug=slug))
    with django_assert_num_queries(3):  # type: ignore[operator]
        assert [entry.dataset.slug for entry in all_datasets()] == ["A", "B", "C"]
