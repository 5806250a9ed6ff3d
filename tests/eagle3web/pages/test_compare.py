"""Charts of several runs together."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.pages.compare import charts
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("took", "unit", "end"),
    [
        (timedelta(minutes=7), "minutes", 7.0),
        (timedelta(minutes=119), "minutes", 119.0),
        (timedelta(hours=30), "hours", 30.0),
        (timedelta(days=3), "days", 3.0),
    ],
)
def test_time_of_generations_is_told_in_a_unit_that_reads_well(took: timedelta, unit: str, end: float) -> None:
    start = timezone.now() - timedelta(days=7)
    attempt = factories.attempt(started_at=start)
    for t in (start, start + took):
        factories.point(attempt, "tokens", 5.0, series="B1", t=t)
    (chart,) = charts([attempt.run], [attempt])
    assert chart.figure["layout"]["xaxis"]["title"]["text"] == f"{unit} since the last attempt started"
    assert chart.figure["data"][0]["x"] == [0.0, pytest.approx(end)]
