from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.queries import overview
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_speed_history_adds_datasets_and_averages_minutes() -> None:
    attempt, now = factories.attempt(), timezone.now()
    for seconds, series, value in (
        (30, "B1", 100.0),
        (20, "B1", 300.0),
        (25, "B2", 50.0),
        (30 * 60, "B1", 7.0),
        (7200, "B1", 9.0),
    ):
        factories.point(attempt, "tokens_per_s", value, series=series, t=now - timedelta(seconds=seconds))
    history = overview.speed_history(attempt.run.project_id, now)
    assert len(history) == 60
    assert history[-1] == 250.0
    assert history[30] == 7.0
    assert sum(history) == 257.0


def test_broken_attempts_are_the_last_ones_of_runs_that_were_not_resumed() -> None:
    project, now = factories.project(), timezone.now()
    failed = factories.run(project)
    factories.attempt(failed, status="failed", ended_at=now)
    last = factories.attempt(failed, status="lost", ended_at=now)
    resumed = factories.run(project)
    factories.attempt(resumed, status="failed", ended_at=now)
    factories.attempt(resumed)
    old = factories.run(project)
    factories.attempt(old, status="failed", ended_at=now - timedelta(days=9))
    settled = factories.run(project, settled_at=now)
    factories.attempt(settled, status="failed", ended_at=now)
    assert overview.broken_attempts(project.pk, now) == [last]


def test_engines_come_worst_first_and_those_switched_off_not_at_all() -> None:
    for name, state, enabled in (("a", "healthy", True), ("b", "down", True), ("c", "loading", True), ("d", "down", False)):
        factories.engine(name=name, state=state, enabled=enabled)
    assert [engine.name for engine in overview.engines(timezone.now())] == ["b", "c", "a"]


def test_failed_import_that_was_repeated_is_no_trouble() -> None:
    dataset = factories.dataset()
    factories.revision(dataset, state="failed", revision="")
    assert [row.dataset for row in overview.failed_imports(timezone.now())] == [dataset]
    factories.revision(dataset)
    assert overview.failed_imports(timezone.now()) == []
