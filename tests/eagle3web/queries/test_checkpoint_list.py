import pytest
from django.utils import timezone

from eagle3web.models import Checkpoint, Project
from eagle3web.queries.checkpoint_list import NONE, Wanted, is_order, is_review, listed, rows_of
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def rows() -> list[Checkpoint]:
    attempt = make.attempt(make.run(stage="train"))
    told = (
        {"accept_length": 2.1, "eval_loss": 1.3, "simulated_accept_length": 2.9},
        {"accept_length": 2.4, "eval_loss": 1.1},
        {"eval_loss": "low"},
    )
    found = [make.checkpoint(attempt, step=100 - i, metrics=metrics, bytes=i) for i, metrics in enumerate(told)]
    benchmark = make.attempt(make.run(attempt.run.project, stage="benchmark"))
    make.result(benchmark, "drafter", checkpoint=found[0], accept_length=2.5, speedup=1.4, concurrency=1)
    make.result(benchmark, "drafter", checkpoint=found[0], accept_length=9.9, speedup=0.9, concurrency=16)
    return found


def order(rows: list[Checkpoint], sort: str) -> list[int]:
    found = rows_of(listed(rows[0].project_id, Wanted(sort=sort)))
    return [rows.index(row) for row in found]


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("-accept", [0, 1, 2]),
        ("accept", [1, 0, 2]),
        ("-speedup", [0, 2, 1]),
        ("loss", [1, 0, 2]),
        ("-loss", [0, 1, 2]),
        ("-simulated", [0, 2, 1]),
        ("step", [2, 1, 0]),
        ("-size", [2, 1, 0]),
        ("saved", [0, 1, 2]),
        ("", [2, 1, 0]),
    ],
)
def test_orders_put_what_was_not_measured_last(rows: list[Checkpoint], sort: str, found: list[int]) -> None:
    assert order(rows, sort) == found


def test_reviews_and_deleted_ones_are_filtered(rows: list[Checkpoint]) -> None:
    project: Project = rows[0].project
    Checkpoint.objects.filter(pk=rows[0].pk).update(review="approved")
    Checkpoint.objects.filter(pk=rows[1].pk).update(removed_at=timezone.now())

    def keys(**wanted: object) -> set[int]:
        return {row.pk for row in listed(project.pk, Wanted(**wanted))}  # type: ignore[arg-type]

    assert keys(review="approved", sort="-accept") == {rows[0].pk}
    assert keys(review=NONE) == {rows[2].pk}
    assert keys(review=NONE, deleted=True) == {rows[1].pk, rows[2].pk}


def test_words_of_the_address_are_known_or_not() -> None:
    assert [is_order(word) for word in ("accept", "-loss", "", "path", "--loss")] == [True, True, False, False, False]
    assert [is_review(word) for word in ("approved", "none", "", "great")] == [True, True, False, False]
