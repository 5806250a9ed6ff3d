"""Engines of serve runs: in the registry while their server answers."""

from pathlib import Path

import pytest
from pytest_django import Settings

from eagle3web.domain import attempts
from eagle3web.enums import AttemptStatus
from eagle3web.models import Attempt, AuditEntry, Engine
from pipeline.server_events import ServerDraining
from tests.support import factories, told

pytestmark = pytest.mark.django_db
DRAINING = ServerDraining(number=1, reason="stopped by ada", deadline_s=30)


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(factories.run(stage="serve"), folder=str(tmp_path / "attempt"), config={"engine": "r7"})


def engine() -> tuple[str, bool, str]:
    row = Engine.objects.get(name="r7")
    return row.url, row.enabled, row.state


def test_server_that_is_ready_is_an_engine_that_runs_may_choose(attempt: Attempt) -> None:
    told.tell(attempt, [(0, told.server_started()), (1, told.server_ready())])
    assert engine() == ("http://gpu-07:30000", True, "unknown")
    assert AuditEntry.objects.get(verb="engine.register").user is None


def test_engine_is_switched_off_when_it_drains_and_on_again_when_it_is_back(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.server_ready())])
    Engine.objects.update(state="healthy", running=3)
    told.tell(attempt, [(2, DRAINING)])
    assert engine() == ("http://gpu-07:30000", False, "unknown")
    told.tell(attempt, [(3, told.server_ready(2, url="http://gpu-07:30001"))])
    assert engine() == ("http://gpu-07:30001", True, "unknown")


def test_engine_that_people_named_gets_the_address_of_the_server(attempt: Attempt) -> None:
    factories.engine(name="r7", url="http://old:1", state="healthy", running=9)
    told.tell(attempt, [(1, told.server_ready())])
    assert engine() == ("http://gpu-07:30000", True, "unknown")


@pytest.mark.parametrize("status", sorted(AttemptStatus.TERMINAL))
def test_engine_is_switched_off_however_the_attempt_ends(attempt: Attempt, status: str) -> None:
    told.tell(attempt, [(1, told.server_ready())])
    attempts.mark(attempt, old=AttemptStatus.LIVE, new=AttemptStatus(status), reason="gone")
    assert engine()[1] is False


def test_what_is_told_after_the_end_switches_nothing_on(attempt: Attempt) -> None:
    attempts.mark(attempt, old=AttemptStatus.LIVE, new=AttemptStatus.LOST, reason="gone")
    told.tell(attempt, [(1, told.server_ready())])
    assert not Engine.objects.exists()


def test_engine_that_somebody_gave_another_address_meanwhile_is_left_alone(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.server_ready())])
    Engine.objects.update(url="http://other:1")
    attempts.mark(attempt, old=AttemptStatus.LIVE, new=AttemptStatus.STOPPED, reason="")
    assert engine()[:2] == ("http://other:1", True)


def test_draining_leaves_a_server_alone_that_took_the_name_over(attempt: Attempt, tmp_path: Path) -> None:
    told.tell(attempt, [(1, told.server_ready())])
    other = factories.attempt(factories.run(stage="serve"), folder=str(tmp_path / "other"), config={"engine": "r7"})
    told.tell(other, [(1, told.server_ready(url="http://gpu-08:30000"))])
    told.tell(attempt, [(2, DRAINING)])
    assert engine()[:2] == ("http://gpu-08:30000", True)
    told.tell(other, [(2, DRAINING)])
    assert engine()[:2] == ("http://gpu-08:30000", False)


def test_server_that_is_ready_and_drains_at_once_is_switched_off(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.server_ready()), (2, DRAINING)])
    assert engine()[1] is False


def test_server_where_no_engine_may_be_is_refused_in_the_audit(attempt: Attempt, settings: Settings) -> None:
    settings.EAGLE3_ENGINE_HOSTS = ["gpu-01"]
    told.tell(attempt, [(1, told.server_ready())])
    assert not Engine.objects.exists()
    entry = AuditEntry.objects.get(verb="engine.refuse")
    assert "gpu-07:30000 is not one" in entry.detail["reason"]
