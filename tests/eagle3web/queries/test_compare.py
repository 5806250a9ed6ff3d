"""What a comparison of runs reads."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.queries import compare
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_tokens_over_time_start_with_what_was_on_disk() -> None:
    start = timezone.now()
    attempt = factories.attempt(started_at=start)
    told = [("B1", 0, 10_000.0), ("B2", 36, 5_000.0), ("B1", 360, 12_000.0), ("B2", 3600, 6_000.0)]
    for series, seconds, value in told:
        factories.point(attempt, "tokens", value, series=series, t=start + timedelta(seconds=seconds))
    assert compare.tokens_over_time(attempt) == [
        (0.0, 15_000.0),
        (pytest.approx(0.01), 15_000.0),
        (pytest.approx(0.1), 17_000.0),
        (pytest.approx(1.0), 18_000.0),
    ]
