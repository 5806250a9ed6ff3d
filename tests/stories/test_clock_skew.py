"""A host whose clock is minutes wrong: it takes work, is not taken for lost, and what is told of it is true."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection

from eagle3web.domain.clock import database_now
from eagle3web.models import Host, Transition
from tests.faults.clock import Clock
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

pytestmark = [pytest.mark.slow]
WORKER = "worker@gpu-01"
CLOSE = timedelta(seconds=20)
"""Of moments that were written within a test's waiting."""


@pytest.fixture(params=[300, -300], ids=["ahead", "behind"])
def here(request: pytest.FixtureRequest, bare_system: System, tmp_path: Path) -> Iterator[World]:
    """One worker, on a host whose clock is five minutes wrong."""
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has one host only; tests/stories/test_postgres.py runs this on PostgreSQL")
    clock = Clock(tmp_path)
    if not clock.environment:
        pytest.skip("clocks are moved by a few lines of C, and no compiler is installed")
    clock.jump(request.param)
    bare_system.start("valkey", "web", "beat")
    bare_system.env |= clock.environment
    bare_system.start(WORKER)
    with world(bare_system, tmp_path, Behaviour(latency_s=0.1, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=5000, tokens=100_000)
        yield found


def test_a_wrong_clock_misleads_nobody(here: World, request: pytest.FixtureRequest) -> None:
    skew = request.node.callspec.params["here"]
    began = database_now()
    run = here.start_run()
    here.wait_status(run, "running")
    here.wait_answers(run, 8)
    host = Host.objects.get()
    assert host.clock_ahead_s is not None
    assert abs(host.clock_ahead_s - skew) < 5
    heard = Host.objects.filter(seen_at__gt=host.seen_at)
    wait_until(heard.exists, "beat's messages reach the host", 30)

    attempt, now = here.attempt(run, 1), database_now()
    for moment in (attempt.created_at, attempt.started_at, attempt.heartbeat_at, attempt.tick_at, attempt.progress_at):
        assert moment is not None
        assert began - CLOSE < moment <= now + timedelta(seconds=2)
    assert here.shown(run).state == "running"

    here.call("POST", f"/runs/{run.pk}/stop")
    here.wait_status(run, "stopped")
    attempt.refresh_from_db()
    assert attempt.started_at is not None
    assert attempt.ended_at is not None
    assert timedelta() < attempt.ended_at - attempt.started_at < database_now() - began + CLOSE
    moments = list(Transition.objects.filter(run=run).order_by("id").values_list("at", flat=True))
    assert moments == sorted(moments)
