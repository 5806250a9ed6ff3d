"""Leases: all or nothing, one holder."""

import pytest
from django.conf import settings

from eagle3web.domain import leases
from eagle3web.models import Lease
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_needed_names_devices_of_this_host_and_the_shared_store() -> None:
    run = factories.run(factories.project(slug="kimi"))
    assert leases.needed(run, ["cuda:0"]) == [(settings.EAGLE3_HOST, "cuda:0"), ("", "responses/kimi")]


def test_take_is_all_or_nothing() -> None:
    first, second = factories.attempt(), factories.attempt()
    assert leases.take(first, [("h", "cuda:1")])
    assert not leases.take(second, [("h", "cuda:0"), ("h", "cuda:1")])
    assert [lease.device for lease in Lease.objects.all()] == ["cuda:1"]
    assert leases.take(second, [("h", "cuda:0"), ("other", "cuda:1")])


def test_holders_are_those_who_keep_runs_waiting() -> None:
    project = factories.project()
    first = factories.attempt(factories.run(project))
    waiting, other = factories.run(project), factories.run()
    assert leases.holders([waiting, other]) == {}
    leases.take(first, leases.needed(first.run, ["cuda:0"]))
    assert {pk: lease.attempt for pk, lease in leases.holders([waiting, other]).items()} == {waiting.pk: first}
