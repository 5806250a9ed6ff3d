"""The runs that a run is made of, and those that are made of it."""

import pytest

from eagle3web.models import BenchmarkRow, Run
from eagle3web.queries import lineage
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain() -> list[Run]:
    return chain_of(ready_project())


def test_family_reaches_both_ways(chain: list[Run]) -> None:
    found = lineage.family(chain[2].pk)
    assert (found.runs, found.more) == (chain, 0)
    assert {row.kind for row in found.inputs} == {"prompts", "responses", "hidden", "checkpoint"}


def test_family_of_a_run_alone_is_that_run() -> None:
    run = factories.run()
    assert lineage.family(run.pk).runs == [run]


def test_tokens_are_those_of_the_newest_attempt(chain: list[Run]) -> None:
    generate = chain[0]
    factories.progress(factories.attempt(generate, status="stopped"), tokens=100)
    newest = factories.attempt(generate)
    for tokens in (150, 50):
        factories.progress(newest, tokens=tokens)
    assert lineage.tokens_of([generate.pk]) == {generate.pk: 200}


def test_measured_is_what_the_newest_attempt_was_told(chain: list[Run]) -> None:
    benchmark = chain[3]
    factories.attempt(benchmark, status="failed", config={"drafter": "/old"})
    factories.attempt(benchmark, config={"drafter": "/new"})
    assert lineage.drafters_measured([benchmark.pk, chain[2].pk]) == {benchmark.pk: "/new"}


def test_measured_is_found_again_after_its_home_moved(chain: list[Run]) -> None:
    saved = factories.checkpoint(factories.attempt(chain[2]), path="/new home/projects/kimi/checkpoints/3/step-000100")
    factories.attempt(chain[3], config={"drafter": "/old/projects/kimi/checkpoints/3/step-000100"})
    assert lineage.drafters_measured([chain[3].pk]) == {chain[3].pk: lineage.below_home(saved.path)}


def test_speedup_is_the_drafters_best_over_all_datasets(chain: list[Run]) -> None:
    attempt = factories.attempt(chain[3])
    for dataset, mode, shape, speedup in (("", "drafter", "3/1/4", 1.2), ("", "drafter", "5/1/6", 1.3),
                                          ("", "lookup", "3/1/4", 1.9), ("B1", "drafter", "3/1/4", 2.0)):  # fmt: skip
        BenchmarkRow.objects.create(attempt=attempt, dataset=dataset, mode=mode, shape=shape, concurrency=1, tokens_per_s=1,
                                    tokens_per_s_low=1, tokens_per_s_high=1, speedup=speedup)  # fmt: skip
    assert {pk: row.speedup for pk, row in lineage.speedups_of([chain[3].pk]).items()} == {chain[3].pk: 1.3}
