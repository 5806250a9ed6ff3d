"""What is never thrown away."""

from typing import Any

import pytest

from eagle3web.enums import AttemptStatus, InputKind, Review, Stage
from eagle3web.models import Attempt, Project, Run
from eagle3web.queries.kept import kept_in
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


def finished(project: Project, stage: Stage, *sources: Run, status: AttemptStatus = AttemptStatus.FINISHED) -> Attempt:
    run = factories.run(project, stage=stage)
    kinds = {Stage.GENERATE: InputKind.RESPONSES, Stage.EXTRACT: InputKind.HIDDEN, Stage.TRAIN: InputKind.CHECKPOINT}
    for source in sources:
        factories.run_input(run, source, kind=kinds[Stage(source.stage)])
    return factories.old_attempt(run, status=status)


def chain(project: Project) -> list[Attempt]:
    generate = finished(project, Stage.GENERATE)
    extract = finished(project, Stage.EXTRACT, generate.run)
    return [generate, extract, finished(project, Stage.TRAIN, extract.run)]


def test_nothing_is_kept_of_runs_that_ended_well(project: Project) -> None:
    factories.checkpoint(chain(project)[2])
    kept = kept_in(project.pk)
    assert (kept.whole, kept.products, kept.checkpoints) == (frozenset(), frozenset(), frozenset())


@pytest.mark.parametrize("word", [{"promoted": True}, {"review": Review.APPROVED}, {"review": Review.PROPOSED}])
def test_the_whole_lineage_of_a_chosen_checkpoint_is_kept(project: Project, word: dict[str, Any]) -> None:
    made = chain(project)
    chosen = factories.checkpoint(made[2], **word)
    other = factories.checkpoint(made[2])
    chain(project)
    kept = kept_in(project.pk)
    assert kept.whole == {attempt.run_id for attempt in made}
    assert kept.products == {made[0].run_id, made[1].run_id}
    assert kept.checkpoints == {chosen.pk}
    assert other.pk not in kept.checkpoints


def test_a_rejected_checkpoint_keeps_nothing(project: Project) -> None:
    factories.checkpoint(chain(project)[2], review=Review.REJECTED)
    assert kept_in(project.pk).whole == frozenset()


def test_a_star_keeps_the_run_and_what_it_is_made_of(project: Project) -> None:
    made = chain(project)
    factories.star(factories.user(), made[2].run)
    kept = kept_in(project.pk)
    assert kept.whole == {attempt.run_id for attempt in made}
    assert made[2].run_id in kept.products


@pytest.mark.parametrize("status", [AttemptStatus.RUNNING, AttemptStatus.FAILED, AttemptStatus.LOST, AttemptStatus.STOPPED])
def test_what_an_unfinished_run_takes_is_kept(project: Project, status: AttemptStatus) -> None:
    generate = finished(project, Stage.GENERATE)
    extract = finished(project, Stage.EXTRACT, generate.run)
    train = finished(project, Stage.TRAIN, extract.run, status=status)
    kept = kept_in(project.pk)
    assert kept.products == {extract.run_id, train.run_id}
    assert kept.whole == ({train.run_id} if status == AttemptStatus.RUNNING else frozenset())


def test_a_checkpoint_that_an_open_run_names_is_kept(project: Project) -> None:
    train = chain(project)[2]
    base, measured, unnamed = (factories.checkpoint(train) for _ in range(3))
    for config in ({"saving": {"continue_from": base.path}}, {"drafter": measured.path}):
        run = factories.run(project, stage=Stage.TRAIN, config=config)
        factories.old_attempt(run, status=AttemptStatus.STOPPED)
    assert kept_in(project.pk).checkpoints == {base.pk, measured.pk}
    assert unnamed.pk not in kept_in(project.pk).checkpoints


def test_a_checkpoint_that_a_server_was_asked_to_change_to_is_kept(project: Project) -> None:
    train = chain(project)[2]
    swapped, other = factories.checkpoint(train), factories.checkpoint(train)
    server = factories.attempt(factories.run(project, stage=Stage.SERVE, config={"drafter": "/elsewhere"}))
    factories.control(server, "swap_drafter", payload={"drafter": swapped.path, "name": "r1 step 1"})
    assert swapped.pk in kept_in(project.pk).checkpoints
    assert other.pk not in kept_in(project.pk).checkpoints


def test_a_starred_benchmark_keeps_the_step_that_it_measured(project: Project) -> None:
    train = chain(project)[2]
    taken = factories.checkpoint(train, step=700)
    factories.checkpoint(train, step=800)
    benchmark = factories.run(project, stage=Stage.BENCHMARK)
    factories.run_input(benchmark, train.run, kind=InputKind.CHECKPOINT, ref={"step": 700})
    factories.old_attempt(benchmark)
    factories.star(factories.user(), benchmark)
    assert taken.pk in kept_in(project.pk).checkpoints


def test_other_projects_do_not_matter(project: Project) -> None:
    factories.checkpoint(chain(factories.project())[2], promoted=True)
    assert kept_in(project.pk).whole == frozenset()
