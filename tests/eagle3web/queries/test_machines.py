"""Samples as points of lines."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import HostSample
from eagle3web.queries import machines
from eagle3web.queries.machines import LINES, SPANS
from eagle3web.queries.points import milliseconds
from tests.support import factories

pytestmark = pytest.mark.django_db
GPU = {"index": 0, "utilisation_percent": 37, "memory_used": 30, "memory_total": 120}


def test_host_has_a_line_for_each_load_in_percent() -> None:
    host, now = factories.host(), timezone.now()
    at = now - timedelta(seconds=5)
    factories.host_sample(host, at=at, cpu_percent=12.5, gpus=[GPU])
    factories.host_sample(factories.host(), at=at)
    lines = machines.host_lines(host.pk, SPANS["1h"], now)
    values = {name: value for name, ((_, value),) in lines.items()}
    assert values == {"cpu": 12.5, "memory": 25.0, "disk": 49.5, "gpu/0": 37, "gpu-memory/0": 25.0}
    assert lines["cpu"][0][0] == milliseconds(at)


def test_lines_break_where_nothing_was_heard() -> None:
    host, now = factories.host(), timezone.now()
    for age in (120, 100, 60):
        factories.host_sample(host, at=now - timedelta(seconds=age), cpu_percent=age)
    assert [value for _, value in machines.host_lines(host.pk, SPANS["1h"], now)["cpu"]] == [120, 100, None, 60]


def test_a_day_shows_one_sample_in_five_minutes() -> None:
    engine, now = factories.engine(), timezone.now().replace(minute=30, second=0, microsecond=0)
    for age in (600, 595, 310, 300, 5):
        factories.engine_sample(engine, at=now - timedelta(seconds=age), tokens_per_s=age)
    lines = machines.engine_lines([engine.pk], SPANS["24h"], now)
    assert [value for _, value in lines[f"rate/{engine.pk}"]] == [600, 300]


def test_points_after_a_number_are_the_later_ones() -> None:
    host = factories.host()
    factories.host_sample(host)
    last = machines.newest_number(HostSample)
    assert machines.host_points_after(host.pk, last) == []
    later = factories.host_sample(host, cpu_percent=50.0)
    first, *rest = machines.host_points_after(host.pk, last)
    assert first == (later.pk * LINES, ("cpu", milliseconds(later.at), 50.0))
    assert [line for _, (line, _, _) in rest] == ["memory", "disk"]
    assert machines.host_points_after(host.pk, first[0]) == rest
    assert machines.host_points_after(host.pk, last, up_to=first[0]) == [first]


def test_charts_show_the_first_engines_that_are_switched_on() -> None:
    for name in "edcba":
        factories.engine(name=name, enabled=name != "a")
    assert [name for _, name in machines.charted_engines()] == ["b", "c", "d", "e"]


def test_what_a_host_does_not_tell_has_no_point() -> None:
    assert machines.loads(None, 1, None, None, 5, "none") == {"cpu": None, "memory": None, "disk": None}
