from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from eagle3web.pages import needs
from eagle3web.pages.clocks import clocks
from tests.support import factories, told

pytestmark = pytest.mark.django_db


def test_silent_and_unresponsive_attempts_need_somebody() -> None:
    now = timezone.now()
    fine = factories.attempt()
    silent = factories.attempt(tick_at=now - timedelta(seconds=20))
    lonely = factories.attempt(heartbeat_at=now - timedelta(seconds=20))
    found = list(needs.of_live([(attempt, clocks(attempt, now)) for attempt in (fine, silent, lonely)]))
    assert [(need.state, need.since) for need in found] == [("silent", silent.tick_at), ("unresponsive", lonely.heartbeat_at)]


def test_errors_that_rise_need_somebody() -> None:
    attempt = factories.attempt()
    factories.progress(attempt, dataset="B1", done=95, errors=5)
    factories.progress(attempt, dataset="B2", done=10, errors=5)
    (need,) = needs.of_live([(attempt, clocks(attempt, timezone.now()))])
    assert need.head == "B1: 5.0 % errors"


def test_errors_that_are_retried_are_no_trouble() -> None:
    attempt = factories.attempt(factories.run(config={"retry_errors": True}))
    factories.progress(attempt, done=0, errors=300)
    assert list(needs.of_live([(attempt, clocks(attempt, timezone.now()))])) == []


def test_run_that_ended_with_errors_names_its_datasets() -> None:
    attempt = factories.attempt(status="finished")
    rows = [factories.progress(attempt, dataset=f"B{n}", done=0, errors=n) for n in range(1, 6)]
    other = factories.progress(factories.attempt(status="stopped"), dataset="C", done=80, errors=20)
    first, second = needs.of_erring([*rows, other])
    assert (first.head, first.act, first.of_run) == (f"r{attempt.run_id} generate finished with errors", "Look", True)
    assert first.note == (
        "No answer came to prompts of B1 (1 of 1), B2 (2 of 2), B3 (3 of 3) and 2 more datasets. "
        "A run that retries errors asks them again."
    )
    assert second.head == f"r{other.attempt.run_id} generate stopped with errors"
    assert second.note.startswith("No answer came to prompts of C (20 of 100). ")


def test_broken_run_says_what_is_kept() -> None:
    attempt = factories.attempt(status="lost", reason="gpu-03 restarted")
    factories.progress(attempt, done=1728, tokens=4_200_000)
    (need,) = needs.of_broken([attempt])
    assert need.head == f"r{attempt.run_id} generate, attempt 1 is lost"
    assert need.note == "gpu-03 restarted. 1 728 answers, 4.20 M tokens are kept."


def test_queued_run_needs_somebody_only_without_a_worker() -> None:
    run, now = factories.run(), timezone.now()
    host = factories.host(seen_at=now - timedelta(minutes=2))
    assert [need.since for need in needs.of_queue([run], [host], now)] == [run.queued_at]
    host.seen_at = now
    assert list(needs.of_queue([run], [host], now)) == []


@pytest.mark.parametrize(
    ("asked", "drained", "notes"),
    [
        ({"host_tags": ["h200"]}, False, []),
        ({"host": "gpu-01"}, False, []),
        (
            {"host_tags": ["h200", "b300"]},
            False,
            ["It asks for the tags h200, b300, and no host that is heard has them all."],
        ),
        ({"host": "gpu-02"}, False, ["It is for gpu-02, which is not heard."]),
        ({"devices": ["cuda:*"]}, False, []),
        (
            {"devices": ["cuda:*", "cuda:*"]},
            False,
            ["No host has the devices that it asks for: gpu-01 has 1 free of 1 GPUs, and 2 are asked for."],
        ),
        ({}, True, ["Every host that could take it is drained. Take work again on one, and it can begin."]),
        ({"host": "gpu-02"}, True, ["It is for gpu-02, which is not heard."]),
        ({"host_tags": ["b300"]}, True, ["It asks for the tags b300, and no host that is heard has them all."]),
    ],
)
def test_queued_run_that_no_host_would_start_needs_somebody(asked: dict[str, Any], drained: bool, notes: list[str]) -> None:
    now = timezone.now()
    hosts = [
        factories.host(
            name="gpu-01", tags=["h200"], seen_at=now, drained_at=now if drained else None, sample={"gpus": [{"index": 0}]}
        ),
        factories.host(name="gpu-02", tags=["b300"], seen_at=now - timedelta(hours=1)),
    ]
    assert [need.note for need in needs.of_queue([factories.run(**asked)], hosts, now)] == notes


def test_full_disk_and_broken_engines_need_somebody() -> None:
    host = factories.host(name="gpu-05", sample={"disk_free": 60, "disk_total": 1000})
    assert [need.head for need in needs.of_hosts([host, factories.host()])] == ["Disk on gpu-05 is 94 % full"]
    down, hanging = factories.engine(name="a", state="down", reason="refused"), factories.engine(name="b", state="hanging")
    assert [(need.state, need.head, need.note) for need in needs.of_engines([down, hanging, factories.engine()])] == [
        ("failed", "a does not answer for", "refused"),
        ("silent", "b answers, but generates nothing for", ""),
    ]


def test_extraction_that_does_not_give_the_answers_back_needs_somebody() -> None:
    run = factories.run(stage="extract")
    off = factories.attempt(run, counters={"extraction_progress": asdict(told.extraction(agreed=90, compared=100))})
    fine = factories.attempt(run, counters={"extraction_progress": asdict(told.extraction(agreed=99, compared=100))})
    now = timezone.now()
    (need,) = needs.of_extractions((attempt, clocks(attempt, now)) for attempt in (off, fine))
    assert need.head.replace("\u00a0", " ") == f"r{run.pk} extract: 90 % of tokens are reproduced"


def test_broken_training_says_how_far_it_had_come() -> None:
    counters = {"step_logged": asdict(told.step(400))}
    attempt = factories.attempt(factories.run(stage="train"), status="lost", reason="killed by signal 9", counters=counters)
    (need,) = needs.of_broken([attempt])
    assert need.note.replace("\u00a0", " ") == "killed by signal 9. It had come to step 400 of 2 000."
