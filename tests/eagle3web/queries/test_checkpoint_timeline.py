from datetime import UTC, datetime, timedelta

import pytest

from eagle3web.charts.checkpoints import timeline_figure
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


def test_figure_steps_up_only_and_goes_on_to_the_end() -> None:
    attempt = make.attempt(make.run(stage="train"))
    for hour, length in enumerate((2.1, 2.0, 2.4, 2.3)):
        make.checkpoint(attempt, step=hour, metrics={"accept_length": length}, saved_at=START + timedelta(hours=hour))
    figure = timeline_figure(timeline(attempt.run.project_id))
    assert figure is not None
    each, best = figure["data"]
    assert (each["y"], best["y"]) == ([2.1, 2.0, 2.4, 2.3], [2.1, 2.4, 2.4])
    assert best["x"][-1] == each["x"][-1]


def test_nothing_measured_is_no_figure() -> None:
    assert timeline_figure(timeline(make.project().pk)) is None
