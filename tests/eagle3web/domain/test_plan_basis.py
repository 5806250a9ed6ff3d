"""What a plan starts from."""

import pytest
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain.plan_basis import ASSUMED_BYTES, ASSUMED_CONCURRENCY, basis_of
from eagle3web.models import Project
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


def test_without_a_run_the_engines_that_there_are_are_assumed(project: Project) -> None:
    factories.engine()
    factories.engine()
    factories.engine(enabled=False)
    basis = basis_of(project)
    assert (basis.engines, basis.concurrency, basis.answer_bytes) == (2, ASSUMED_CONCURRENCY, ASSUMED_BYTES)


def test_prompts_are_as_long_as_those_of_the_newest_revision(project: Project) -> None:
    dataset = factories.dataset()
    factories.revision(dataset, token_lengths={"mean": 10.5})
    factories.revision(dataset, token_lengths={"mean": 20.5})
    factories.revision(dataset, token_lengths={})
    factories.budget(project, dataset)
    assert basis_of(project).mean_prompts == {dataset.pk: 20.5}


def test_bytes_of_answers_are_measured_on_those_on_disk(project: Project) -> None:
    factories.stored_answer(project, tokens=100, size=900)
    factories.stored_answer(project, tokens=50, size=300)
    factories.stored_answer(project, tokens=0, error="too long")
    basis = basis_of(project)
    assert (basis.answer_bytes, basis.sized) == (8.0, 2)


def test_engines_and_concurrency_are_those_of_the_newest_run(project: Project) -> None:
    config = {"engines": [{"name": "a"}, {"name": "b"}, {"name": "c"}], "concurrency": 96}
    factories.attempt(factories.run(project, config=config))
    factories.run(project, config={"engines": [{"name": "a"}], "concurrency": 1})
    basis = basis_of(project)
    assert (basis.engines, basis.concurrency) == (3, 96)


def test_a_basis_costs_the_same_however_many_datasets_there_are(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(10):
        dataset = factories.dataset()
        factories.revision(dataset)
        factories.budget(project, dataset)
    with django_assert_max_num_queries(12):
        basis_of(project)
