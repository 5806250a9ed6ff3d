"""What a queued run waits for, in words."""

import pytest
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain import leases, lineage
from eagle3web.domain.waits import waits
from eagle3web.enums import InputKind
from eagle3web.models import Run
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_run_that_starts_within_seconds_waits_for_nothing() -> None:
    factories.host()
    assert waits([factories.run(), factories.run(status="running")]) == {}


def test_run_it_is_made_of_comes_before_all() -> None:
    source = factories.run(status="running")
    follower = factories.run(source.project, stage="extract")
    lineage.connect(follower, [lineage.Input(kind=InputKind.RESPONSES, source=source)])
    assert waits([follower]) == {follower.pk: f"waits for {source}"}


def test_who_holds_the_store_is_named() -> None:
    factories.host()
    project = factories.project(slug="kimi")
    first = factories.attempt(factories.run(project, status="running"), status="running")
    leases.take(first, leases.needed(first.run, []))
    second, other = factories.run(project), factories.run()
    assert waits([second, other]) == {second.pk: f"waits for {first}, which holds responses/kimi"}


def test_host_that_none_is_named() -> None:
    factories.host(name="gpu-01")
    run = factories.run(host_tags=["h200"])
    assert waits([run]) == {run.pk: "waits for a host: gpu-01 has no tag h200"}


def test_many_runs_take_no_more_queries_than_one(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    factories.host()
    runs = [factories.run() for _ in range(20)]
    with django_assert_max_num_queries(6):
        waits(runs)
    with django_assert_max_num_queries(0):
        waits([Run(status="running")])
