from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from eagle3web.models import Attempt, MetricPoint
from tests.support import factories

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 30, 12, tzinfo=UTC)


def address(attempt: Attempt, query: str) -> str:
    return f"/runs/{attempt.run_id}/attempts/{attempt.number}/points/?{query}"


def test_part_of_a_long_line_comes_in_full(viewer: Client) -> None:
    attempt = factories.attempt(factories.run(stage="train"))
    MetricPoint.objects.bulk_create(
        MetricPoint(attempt=attempt, name="loss", t=START, step=n, value=n % 7) for n in range(9000)
    )
    found = viewer.get(address(attempt, "lines=loss&from=100.4&to=199.6")).json()
    assert found["lines"]["loss"]["x"] == list(range(100, 201))
    assert (found["total"], found["drawn"]) == (101, 101)
    whole = viewer.get(address(attempt, "lines=loss,accuracy/0")).json()
    assert (whole["total"], whole["drawn"] <= 2000) == (9000, True)


def test_lines_of_generation_are_asked_for_by_time(viewer: Client) -> None:
    attempt = factories.attempt()
    for n in range(5):
        factories.point(attempt, "tokens", float(n), series="B1", t=START + timedelta(seconds=n))
    at = 1796040000000
    found = viewer.get(address(attempt, f"lines=B1&from={at + 1000}&to={at + 3000}")).json()
    assert found["lines"] == {"B1": {"x": [at + 1000, at + 2000, at + 3000], "y": [1.0, 2.0, 3.0]}}


@pytest.mark.parametrize("query", ["from=x", "from=nan", "to=inf", "lines=&from=-5&to=1e300"])
def test_odd_ranges_are_no_server_error(viewer: Client, query: str) -> None:
    assert viewer.get(address(factories.attempt(), query)).status_code in (200, 400)
