"""Samples grow old."""

from datetime import UTC, datetime, timedelta

import pytest

from eagle3web.domain import thinning
from eagle3web.models import EngineSample, HostSample
from tests.support import factories

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)


@pytest.fixture(autouse=True)
def now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thinning, "database_now", lambda: NOW)


def ages() -> list[float]:
    """Minutes, youngest first."""
    return sorted((NOW - at).total_seconds() / 60 for at in HostSample.objects.values_list("at", flat=True))


def sample_every(seconds: int, *, start: timedelta, count: int) -> None:
    host = factories.host()
    for n in range(count):
        factories.host_sample(host, at=NOW - start + timedelta(seconds=seconds * n))


def test_samples_of_the_last_hour_stay() -> None:
    sample_every(5, start=timedelta(minutes=59), count=24)
    assert thinning.thin_samples() == 0
    assert len(ages()) == 24


def test_older_samples_are_kept_once_a_minute() -> None:
    sample_every(5, start=timedelta(hours=2), count=24)
    assert thinning.thin_samples() == 22
    assert ages() == [119, 120]
    assert thinning.thin_samples() == 0


def test_samples_of_yesterday_are_kept_once_in_ten_minutes() -> None:
    sample_every(60, start=timedelta(days=2), count=20)
    thinning.thin_samples()
    assert ages() == [2870, 2880]


def test_samples_older_than_a_month_are_deleted() -> None:
    sample_every(600, start=timedelta(days=30, minutes=15), count=3)
    thinning.thin_samples()
    assert ages() == [30 * 24 * 60 - 5]


def test_each_machine_keeps_its_own() -> None:
    for engine in (factories.engine(), factories.engine()):
        for n in range(3):
            factories.engine_sample(engine, at=NOW - timedelta(hours=3) + timedelta(seconds=5 * n))
    assert thinning.thin_samples() == 4
    assert EngineSample.objects.count() == 2
