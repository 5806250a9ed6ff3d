"""The database's clock."""

from datetime import UTC, datetime, timedelta

import pytest

from eagle3web.domain.clock import database_now


@pytest.mark.django_db
def test_database_now_is_utc_and_agrees_with_this_host() -> None:
    now = database_now()
    assert now.tzinfo == UTC
    assert abs(datetime.now(UTC) - now) < timedelta(seconds=5)
