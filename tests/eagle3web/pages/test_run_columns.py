import pytest

from eagle3web.models import Run
from eagle3web.pages.run_columns import CHOICES, DEFAULT, RunTable, chosen, columns_of, number_of
from tests.support import factories


def test_columns_come_in_the_tables_order_however_they_are_named() -> None:
    assert chosen(["speedup,state"]) == ("state", "speedup")
    assert chosen(["speedup", "state", "nonsense"]) == ("state", "speedup")


def test_address_without_columns_means_the_default() -> None:
    assert chosen([]) == chosen([""]) == chosen(["nonsense"]) == DEFAULT


def test_choice_of_columns_is_a_number_and_back() -> None:
    for columns in (DEFAULT, (), CHOICES, ("loss",)):
        assert columns_of(number_of(columns)) == tuple(columns)


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["loss", "accept_length", "speedup"])
def test_metrics_sort_with_unknown_ones_last_either_way(name: str) -> None:
    project = factories.project()
    runs = [factories.run(project, **{name: value}) for value in (1.5, None, 1.2)]
    best, none, least = (run.pk for run in runs)

    def order(by: str) -> list[int]:
        return [row.record.pk for row in RunTable(Run.objects.all(), order_by=by).rows]

    assert order(f"-{name}") == [best, least, none]
    assert order(name) == [least, best, none]
