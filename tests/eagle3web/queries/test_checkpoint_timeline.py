from datetime import UTC, datetime, timedelta

import pytest

from eagle3web.domain import checkpoints
from eagle3web.models import AuditEntry
from eagle3web.queries.checkpoint_timeline import timeline
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
START = datetime(2026, 3, 1, tzinfo=UTC)


def test_lengths_speedups_and_promotions_stand_in_time() -> None:
    attempt = make.attempt(make.run(stage="train"))
    later = make.checkpoint(attempt, step=200, metrics={"accept_length": 2.4}, saved_at=START + timedelta(hours=1))
    first = make.checkpoint(attempt, step=100, metrics={"accept_length": 2.1}, saved_at=START)
    make.checkpoint(attempt, step=300, metrics={"accept_length": "far"}, saved_at=START)
    benchmark = make.attempt(make.run(attempt.run.project, stage="benchmark"), ended_at=START + timedelta(hours=2))
    make.result(benchmark, "drafter", speedup=1.2, concurrency=1)
    make.result(benchmark, "drafter", speedup=1.5, concurrency=4)
    checkpoints.promote(first, user=None, anyway=True)
    checkpoints.promote(make.checkpoint(), user=None, anyway=True)
    told = timeline(attempt.run.project_id)
    assert [(value, name) for _, value, name in told.lengths] == [(2.1, str(first)), (2.4, str(later))]
    assert told.speedups == [(START + timedelta(hours=2), 1.5, f"r{benchmark.run_id}")]
    assert told.promotions == [(AuditEntry.objects.order_by("id")[0].at, str(first))]
