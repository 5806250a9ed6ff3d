from datetime import UTC, datetime, timedelta

import pytest

from eagle3web.models import MetricPoint
from eagle3web.queries import points
from tests.support import factories

pytestmark = pytest.mark.django_db

START = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_points_come_in_order_with_milliseconds() -> None:
    attempt = factories.attempt()
    factories.point(attempt, "tokens", 1.0, series="B1", t=START)
    factories.point(attempt, "tokens_per_s", 9.0, series="B1", t=START)
    last = factories.point(attempt, "tokens", 2.0, series="B1", t=START + timedelta(seconds=1))
    assert points.newest_id(attempt.pk) == last.pk
    found, total = points.points_of(attempt.pk, "tokens", up_to=last.pk)
    assert (found, total) == ([("B1", 1796040000000, 1.0), ("B1", 1796040001000, 2.0)], 2)


def test_many_points_are_sampled_and_the_last_of_each_series_is_kept() -> None:
    attempt = factories.attempt()
    rows = [
        MetricPoint(attempt=attempt, name="tokens", series=f"B{n % 2}", t=START + timedelta(seconds=n), value=n)
        for n in range(9000)
    ]
    MetricPoint.objects.bulk_create(rows)
    found, total = points.points_of(attempt.pk, "tokens", up_to=points.newest_id(attempt.pk))
    assert total == 9000
    assert 1500 < len(found) <= points.LIMIT + 2
    assert {series: value for series, _, value in found} == {"B0": 8998.0, "B1": 8999.0}


def test_points_after_a_number_are_entries_of_a_stream() -> None:
    attempt = factories.attempt()
    first, second, third = (factories.point(attempt, "tokens", float(n), series="B1", t=START) for n in range(3))
    entries = points.points_after(attempt.pk, "tokens", first.pk)
    assert entries == [(second.pk, ("B1", 1796040000000, 1.0)), (third.pk, ("B1", 1796040000000, 2.0))]
    assert points.points_after(attempt.pk, "tokens", first.pk, up_to=second.pk) == entries[:1]


def test_metrics_without_series_are_lines_of_their_own() -> None:
    attempt = factories.attempt()
    factories.point(attempt, "tokens", 1.0, series="B1", t=START)
    tokens = factories.point(attempt, "tokens", 2.0, t=START)
    written = factories.point(attempt, "bytes", 3.0, t=START)
    found = points.metrics_after(attempt.pk, ["tokens", "bytes"], 0)
    assert found == [(tokens.pk, ("tokens", 1796040000000, 2.0)), (written.pk, ("bytes", 1796040000000, 3.0))]
    assert points.metrics_after(attempt.pk, ["bytes"], 0, up_to=tokens.pk) == []


def test_points_between_two_moments_come_line_by_line() -> None:
    attempt = factories.attempt()
    for n in range(4):
        factories.point(attempt, "tokens", float(n), series=f"B{n % 2}", t=START + timedelta(seconds=n))
    at = 1796040000000
    found, most = points.points_between(attempt.pk, ["tokens"], at + 1000, at + 3000)
    assert found == {("tokens", "B0"): [(at + 2000, 2.0)], ("tokens", "B1"): [(at + 1000, 1.0), (at + 3000, 3.0)]}
    assert most == 2
