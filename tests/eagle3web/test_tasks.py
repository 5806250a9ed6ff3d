"""Messages: to whom they go, and what happens when there is no broker."""

import base64
import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from redis import Redis

from eagle3web import tasks
from eagle3web.enums import Prunable
from eagle3web.models import Attempt, Host, HostSample, Pruned, Run
from pipeline import events
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project
from tests.support.system import System


@pytest.fixture
def broker(bare_system: System) -> Iterator[Redis]:
    bare_system.start("valkey")
    client = Redis.from_url(settings.REDIS_URL)
    yield client
    client.close()


def messages(broker: Redis, queue: str) -> list[tuple[str, list[Any]]]:
    """Task names and arguments that wait in a queue, oldest first."""
    raw: Any = broker.lrange(queue, 0, -1)
    bodies = [json.loads(message) for message in reversed(raw)]
    return [(body["headers"]["task"].rpartition(".")[2], json.loads(base64.b64decode(body["body"]))[0]) for body in bodies]


@pytest.mark.slow
def test_reconcile_asks_every_host_that_listens_and_launches_what_waits(broker: Redis) -> None:
    factories.host(name="gpu-01")
    factories.host(name="gpu-02", seen_at=None)
    anywhere = factories.run()
    there = factories.run(host="gpu-01")
    factories.run(host="gpu-02")
    tasks.reconcile()
    assert messages(broker, "celery") == []
    assert messages(broker, "host.gpu-01") == [
        ("reconcile_host", []), ("launch_here", [anywhere.pk, 1]), ("launch_here", [there.pk, 1]),
    ]  # fmt: skip
    assert messages(broker, "host.gpu-02") == []


@pytest.mark.slow
def test_launch_run_passes_a_message_on_to_the_host_that_takes_the_run(broker: Redis) -> None:
    run, other = factories.run(host_tags=["h200"]), factories.run(host_tags=["b300"])
    factories.host(name="gpu-01", tags=["h200"])
    tasks.launch_run(run.pk, 1)
    tasks.launch_run(other.pk, 1)
    assert messages(broker, "host.gpu-01") == [("launch_here", [run.pk, 1])]
    assert not Attempt.objects.exists()


@pytest.mark.slow
def test_sample_host_asks_every_host_that_listens(broker: Redis) -> None:
    factories.host(name="gpu-01")
    tasks.sample_host()
    assert messages(broker, "host.gpu-01") == [("report_host", [])]


@pytest.mark.slow
def test_every_host_is_asked_to_delete_what_is_pruned_at_night(broker: Redis, home: Path) -> None:
    run = factories.run(stage="extract")
    factories.host(name="gpu-01")
    factories.host(name="gpu-02")
    told = {"extraction_progress": {"bytes": 10, "documents": 1}}
    factories.old_attempt(run, host="gpu-01", counters=told)
    tasks.prune()
    queues = ["celery", "host.gpu-01", "host.gpu-02"]
    assert [messages(broker, queue) for queue in queues] == [[], [], []]
    factories.policy(Prunable.SHARDS, keep_last=0)
    tasks.prune()
    assert [messages(broker, queue) for queue in queues] == [[("remove_pruned", [])]] * 3
    tasks.remove_pruned()
    assert Pruned.objects.get().removed_at is None


@pytest.mark.django_db
def test_messages_to_a_broker_that_is_away_are_no_error(
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    run = factories.run()
    start = time.monotonic()
    with django_capture_on_commit_callbacks(execute=True):
        tasks.launch_soon(run)
    assert time.monotonic() - start < 2
    run.refresh_from_db()
    assert run.status == "queued"


@pytest.mark.slow
def test_reconcile_host_launches_what_waited_for_a_run_that_it_finds_finished(broker: Redis, tmp_path: Path) -> None:
    generate, extract, *_ = chain_of(ready_project())
    factories.attempt(generate, host="test-host", boot_id="another", folder=str(tmp_path))
    with closing(events.EventWriter(tmp_path / "events.jsonl")) as writer:
        writer.emit(events.StageFinished())
    tasks.reconcile_host()
    assert messages(broker, "celery") == [("launch_run", [extract.pk, 1])]


@pytest.mark.slow
def test_launch_followers_of_a_run_that_is_not_finished_sends_nothing(broker: Redis) -> None:
    generate, *_ = chain_of(ready_project())
    tasks.launch_followers(generate)
    assert messages(broker, "celery") == []


@pytest.mark.django_db
def test_launch_run_of_a_run_that_is_gone_is_no_error() -> None:
    tasks.launch_run(7, 1)


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_starts_reports_itself_and_looks_after_what_was_left() -> None:
    lost = factories.attempt(host="test-host", boot_id="another")
    tasks.begin()
    lost.refresh_from_db()
    assert lost.status == "lost"
    assert Host.objects.get().name == "test-host"
    assert Run.objects.get().status == "lost"


@pytest.mark.django_db
def test_thin_samples_deletes_what_is_too_old() -> None:
    factories.host_sample(factories.host(), at=timezone.now() - timedelta(days=31))
    tasks.thin_samples()
    assert not HostSample.objects.exists()
