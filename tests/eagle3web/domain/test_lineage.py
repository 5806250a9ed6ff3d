"""What a run is made of, and what it waits for."""

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain import lineage, runs
from eagle3web.domain.lineage import Input
from eagle3web.enums import InputKind, RunStatus
from eagle3web.models import Checkpoint, Run
from pipeline.errors import ConfigError
from tests.support import factories
from tests.support.pipelines import chain_of, finish, ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def chain() -> list[Run]:
    return chain_of(ready_project())


def test_runs_wait_for_the_run_before_them(chain: list[Run]) -> None:
    generate, extract, train, benchmark = chain
    assert [lineage.held_words(run) for run in chain] == [
        "",
        f"waits for r{generate.pk} generate",
        f"waits for r{extract.pk} extract",
        f"waits for r{train.pk} train",
    ]
    finish(generate)
    assert lineage.held_words(extract) == ""
    assert lineage.held_words(benchmark) == f"waits for r{train.pk} train"


@pytest.mark.parametrize(
    ("status", "words"), [(RunStatus.FAILED, "failed"), (RunStatus.STOPPED, "was stopped"), (RunStatus.LOST, "is lost")]
)
def test_a_run_says_that_its_source_was_cut_short(chain: list[Run], status: str, words: str) -> None:
    generate, extract, *_ = chain
    Run.objects.filter(pk=generate.pk).update(status=status)
    assert lineage.held_words(extract) == (
        f"waits for r{generate.pk} generate, which {words}: resume that one, and this one follows; or stop this one"
    )


def test_of_several_sources_the_one_that_needs_somebody_is_named(chain: list[Run]) -> None:
    extract, train = chain[1], chain[2]
    other = factories.run(train.project, stage="extract", status=RunStatus.FAILED)
    factories.run_input(train, other, kind=InputKind.HIDDEN)
    assert lineage.held_words(train).startswith(f"waits for r{other.pk} extract, which failed")
    Run.objects.filter(pk=other.pk).update(status=RunStatus.RUNNING)
    assert lineage.held_words(train) == f"waits for r{extract.pk} extract"


def test_held_asks_once_for_all_runs(chain: list[Run], django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(1):
        assert set(lineage.held(chain)) == {run.pk for run in chain[1:]}


def test_ready_followers_are_those_that_wait_for_nothing_else(chain: list[Run]) -> None:
    generate, extract, train, _ = chain
    assert list(lineage.ready_followers(generate)) == []
    finish(generate)
    assert list(lineage.ready_followers(generate)) == [extract]
    other = factories.run(train.project, stage="extract", status=RunStatus.RUNNING)
    factories.run_input(train, other, kind=InputKind.HIDDEN)
    finish(extract)
    assert list(lineage.ready_followers(extract)) == []
    assert list(lineage.ready_followers(finish(other))) == [train]


def test_a_checkpoint_chosen_by_its_step_is_not_waited_for(chain: list[Run]) -> None:
    train = chain[2]
    run = factories.run(train.project, stage="benchmark")
    factories.run_input(run, train, kind=InputKind.CHECKPOINT, ref={"step": 500})
    assert lineage.held_words(run) == ""


def test_a_source_of_another_project_is_refused(chain: list[Run]) -> None:
    with pytest.raises(ConfigError, match=f"r{chain[0].pk} generate belongs to another project"):
        lineage.connect(factories.run(), [Input(kind=InputKind.RESPONSES, source=chain[0])])


def test_a_source_that_makes_something_else_is_refused(chain: list[Run]) -> None:
    train, benchmark = chain[2:]
    with pytest.raises(ConfigError, match=f"r{train.pk} train makes no hidden states"):
        lineage.connect(benchmark, [Input(kind=InputKind.HIDDEN, source=train)])


def test_a_clone_is_made_of_the_same(chain: list[Run]) -> None:
    extract = chain[1]
    again = runs.clone(extract, user=None, changes={})
    assert lineage.inputs_of(again) == lineage.inputs_of(extract)
    assert lineage.held_words(again) == f"waits for r{chain[0].pk} generate"


def test_a_checkpoint_that_was_given_up_meanwhile_is_refused(chain: list[Run]) -> None:
    train = chain[2]
    factories.checkpoint(factories.attempt(train), step=500)
    taken = Input(kind=InputKind.CHECKPOINT, source=train, ref={"step": 500})
    lineage.connect(factories.run(train.project, stage="benchmark"), [taken])
    Checkpoint.objects.update(removed_at=timezone.now())
    with pytest.raises(ConfigError, match=f"the checkpoint of r{train.pk} train at step 500 was removed from disk"):
        lineage.connect(factories.run(train.project, stage="benchmark"), [taken])
