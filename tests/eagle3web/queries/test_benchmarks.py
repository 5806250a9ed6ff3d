import pytest

from eagle3web.queries import benchmarks
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_rows_come_below_their_baseline() -> None:
    attempt = factories.attempt()
    for dataset in ("B2", ""):
        for mode in ("drafter", "lookup", "plain"):
            factories.result(attempt, mode, dataset=dataset)
    found = [(row.dataset, row.mode) for row in benchmarks.rows_of(attempt.pk)]
    assert found == [(dataset, mode) for dataset in ("", "B2") for mode in ("plain", "lookup", "drafter")]


def test_headline_takes_the_lowest_concurrency_and_the_fastest_shape() -> None:
    attempt = factories.attempt()
    factories.result(attempt, "plain")
    factories.result(attempt, "drafter", shape="2/1/3", tokens_per_s=50.0)
    best = factories.result(attempt, "drafter", shape="4/1/5", tokens_per_s=70.0)
    factories.result(attempt, "drafter", concurrency=8, tokens_per_s=400.0)
    found = benchmarks.headline(attempt, benchmarks.rows_of(attempt.pk))
    assert (found.drafter, found.lookup, found.speedup) == (best, None, best.speedup)


def test_speedup_without_its_baseline_is_none() -> None:
    attempt = factories.attempt()
    factories.result(attempt, "drafter")
    assert benchmarks.headline(attempt, benchmarks.rows_of(attempt.pk)).speedup is None
    assert benchmarks.best_of_project(attempt.run.project_id) is None


def test_best_of_a_project_is_its_largest_speedup() -> None:
    project = factories.project()
    attempts = [factories.attempt(factories.run(project, stage="benchmark")) for _ in range(3)]
    for attempt, speedup in zip(attempts, (1.2, 1.6, 1.4), strict=True):
        factories.result(attempt, "plain")
        factories.result(attempt, "drafter", speedup=speedup)
    factories.result(factories.attempt(), "drafter", speedup=9.0)
    best = benchmarks.best_of_project(project.pk)
    assert best is not None
    assert (best.attempt, best.speedup) == (attempts[1], 1.6)
    assert benchmarks.best_of_project(factories.project().pk) is None


def test_checkpoint_shows_its_newest_benchmark() -> None:
    checkpoint = factories.checkpoint()
    for speedup in (1.7, 1.5):
        attempt = factories.attempt(factories.run(stage="benchmark"))
        factories.result(attempt, "plain")
        factories.result(attempt, "drafter", speedup=speedup, checkpoint=checkpoint)
    found = benchmarks.headlines_of_checkpoints([checkpoint.pk, factories.checkpoint().pk])
    assert {key: one.speedup for key, one in found.items()} == {checkpoint.pk: 1.5}
