"""Engines as they are known now, and what works on each host."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.enums import EngineState
from eagle3web.queries.engines import all_engines, hosts_with_work
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def test_engine_that_was_just_checked_is_shown_as_found() -> None:
    make.engine(state=EngineState.HEALTHY, running=8)
    (engine,) = all_engines(timezone.now())
    assert (engine.state, engine.running) == (EngineState.HEALTHY, 8)


def test_engine_that_nobody_checks_any_more_is_unknown() -> None:
    make.engine(state=EngineState.HEALTHY, running=8, checked_at=timezone.now() - timedelta(minutes=8))
    (engine,) = all_engines(timezone.now())
    assert (engine.state, engine.running, engine.tokens_per_s) == (EngineState.UNKNOWN, 0, None)
    assert engine.reason == "not checked for 8 min: no worker is heard"


def test_engines_switched_off_come_last() -> None:
    make.engine(name="a", enabled=False)
    make.engine(name="b")
    assert [engine.name for engine in all_engines(timezone.now())] == ["b", "a"]


def test_host_lists_the_live_attempts_that_work_there() -> None:
    make.host(name="gpu-07")
    attempt = make.attempt(host="gpu-07")
    make.attempt(host="gpu-08")
    (found,) = hosts_with_work()
    assert (found.host.name, found.attempts, found.leases) == ("gpu-07", [attempt], [])
