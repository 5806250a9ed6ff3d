"""events.jsonl into the database: in order, each line once, with everything that follows from it."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import OperationalError
from django.utils import timezone

from eagle3web.domain import attempts, controls
from eagle3web.domain.ingest import Ingestor
from eagle3web.enums import AttemptStatus, DatasetState
from eagle3web.models import Attempt, ControlMessage, DatasetProgress, Event, MetricPoint
from pipeline import events
from pipeline.control import SetBudget
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(status=AttemptStatus.STARTING, folder=str(tmp_path), progress_at=None, tick_at=None)


@pytest.fixture
def writer(attempt: Attempt) -> Iterator[events.EventWriter]:
    with closing(events.EventWriter(Path(attempt.folder) / "events.jsonl")) as found:
        yield found


def started(**fields: object) -> events.StageStarted:
    return events.StageStarted(stage="generate", config_hash="12345678", versions={"python": "3.11"})


def progress(dataset: str = "B1", **fields: object) -> events.GenerationProgress:
    values: dict[str, object] = {
        "done": 1, "total": 10, "errors": 0, "truncated": 0, "tokens": 100, "in_flight": 2, "in_flight_tokens": 50,
        "requests_per_s": 0.5, "tokens_per_s": 50.0, "mean_completion": 100.0, "longest": 100, "eta_s": None,
    }  # fmt: skip
    return events.GenerationProgress(dataset=dataset, **values | fields)  # type: ignore[arg-type]


def dataset_started(**fields: object) -> events.DatasetStarted:
    values: dict[str, object] = {"prompts": 10, "done": 3, "tokens": 300, "budget": 1000, "budget_version": 2}
    return events.DatasetStarted(dataset="B1", **values | fields)  # type: ignore[arg-type]


def dataset_finished(**fields: object) -> events.DatasetFinished:
    values: dict[str, object] = {
        "reason": "budget_met", "done": 9, "total": 10, "tokens": 1010, "budget": 1000, "errors": 1, "truncated": 2,
        "longest": 300, "finish_reasons": {"stop": 7, "length": 2},
    }  # fmt: skip
    return events.DatasetFinished(dataset="B1", **values | fields)  # type: ignore[arg-type]


def store(attempt: Attempt) -> DatasetProgress:
    """Store all lines; the row of B1."""
    ingestor = Ingestor(attempt)
    while ingestor.store():
        pass
    return DatasetProgress.objects.get(attempt=attempt, dataset="B1")


def test_store_copies_each_line_once(attempt: Attempt, writer: events.EventWriter) -> None:
    ingestor = Ingestor(attempt)
    assert ingestor.store() == 0
    writer.emit(started())
    writer.emit(events.Warned(text="hot"))
    assert ingestor.store() > 0
    assert ingestor.store() == 0
    writer.emit(events.Warned(text="hotter"))
    assert ingestor.has_more()
    ingestor.store()
    assert not ingestor.has_more()
    assert list(Event.objects.values_list("seq", "kind")) == [(1, "stage_started"), (2, "warning"), (3, "warning")]
    attempt.refresh_from_db()
    assert (attempt.last_seq, attempt.events_offset) == (3, (Path(attempt.folder) / "events.jsonl").stat().st_size)


def test_store_by_two_readers_copies_each_line_once(attempt: Attempt, writer: events.EventWriter) -> None:
    first, second = Ingestor(attempt), Ingestor(attempt)
    writer.emit(started())
    first.store()
    second.store()
    writer.emit(dataset_started())
    first.store()
    assert second.store() == 0
    writer.emit(events.Warned(text="hot"))
    second.store()
    assert list(Event.objects.values_list("seq", flat=True)) == [1, 2, 3]


def test_store_after_a_failed_transaction_misses_and_doubles_nothing(
    attempt: Attempt, writer: events.EventWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingestor = Ingestor(attempt)
    writer.emit(started())
    writer.emit(dataset_started())
    writer.emit(progress(tokens=400))

    def fail(*_arguments: object) -> None:
        raise OperationalError("database is locked")

    with monkeypatch.context() as patch:
        patch.setattr(attempts, "announce", fail)
        with pytest.raises(OperationalError):
            ingestor.store()
    assert not Event.objects.exists()
    while ingestor.store():
        pass
    assert list(Event.objects.values_list("seq", flat=True)) == [1, 2, 3]
    assert DatasetProgress.objects.get().tokens == 400
    assert MetricPoint.objects.count() == 2


def test_store_is_a_replay(attempt: Attempt, writer: events.EventWriter) -> None:
    for event in (started(), dataset_started(), progress(tokens=400), progress(tokens=500), dataset_finished()):
        writer.emit(event)
    names = ("state", "done", "tokens", "reason", "finish_reasons")
    store(attempt)
    before = list(DatasetProgress.objects.values(*names)), list(MetricPoint.objects.values("name", "t", "value"))
    for model in (Event, DatasetProgress, MetricPoint):
        model.objects.all().delete()
    Attempt.objects.update(events_offset=0, last_seq=0)
    store(attempt)
    assert (list(DatasetProgress.objects.values(*names)), list(MetricPoint.objects.values("name", "t", "value"))) == before


def test_store_makes_a_starting_attempt_run(attempt: Attempt, writer: events.EventWriter) -> None:
    writer.emit(started())
    Ingestor(attempt).store()
    attempt.refresh_from_db()
    assert (attempt.status, attempt.run.status, attempt.versions) == ("running", "running", {"python": "3.11"})


@pytest.mark.parametrize("status", ["stopping", "lost"])
def test_store_never_revives_an_attempt(attempt: Attempt, writer: events.EventWriter, status: str) -> None:
    Attempt.objects.update(status=status)
    writer.emit(started())
    writer.emit(dataset_started())
    writer.emit(progress())
    row = store(attempt)
    attempt.refresh_from_db()
    assert attempt.status == status
    assert (row.tokens, row.in_flight) == (100, 2 if status == "stopping" else 0)
    assert row.state == (DatasetState.RUNNING if status == "stopping" else DatasetState.STOPPED)


def test_store_follows_a_dataset_through_its_life(attempt: Attempt, writer: events.EventWriter) -> None:
    factories.progress(attempt, dataset="B1", state=DatasetState.PENDING, tokens=0, done=0, position=4)
    writer.emit(dataset_started())
    row = store(attempt)
    assert (row.state, row.done, row.total, row.tokens, row.budget, row.budget_version) == ("running", 3, 10, 300, 1000, 2)
    writer.emit(progress(done=5, tokens=600, eta_s=12.5))
    row = store(attempt)
    assert (row.done, row.tokens, row.in_flight, row.tokens_per_s, row.eta_s) == (5, 600, 2, 50.0, 12.5)
    writer.emit(events.BudgetApplied(dataset="B1", budget=2000, previous=1000, budget_version=3, max_samples=7))
    row = store(attempt)
    assert (row.budget, row.budget_version, row.max_samples, row.tokens) == (2000, 3, 7, 600)
    writer.emit(dataset_finished())
    row = store(attempt)
    assert (row.state, row.reason, row.done, row.tokens, row.in_flight) == ("finished", "budget_met", 9, 1010, 0)
    assert (row.finish_reasons, row.truncated, row.tokens_per_s) == ({"stop": 7, "length": 2}, 2, 0)
    assert row.position == 4


def test_store_does_not_reopen_a_dataset_by_its_last_counts(attempt: Attempt, writer: events.EventWriter) -> None:
    writer.emit(dataset_finished())
    writer.emit(progress(in_flight=0))
    assert store(attempt).state == DatasetState.FINISHED
    writer.emit(progress(in_flight=1))
    row = store(attempt)
    assert (row.state, row.reason) == (DatasetState.RUNNING, "")


def test_store_keeps_the_numbers_of_a_skip(attempt: Attempt, writer: events.EventWriter) -> None:
    writer.emit(
        events.DatasetSkipped(
            dataset="B1", reason="budget_met", tokens=17_030_000, budget=10_000_000, done=9998, prompts=12000, budget_version=4
        )
    )
    row = store(attempt)
    assert (row.state, row.reason, row.tokens, row.budget) == ("skipped", "budget_met", 17_030_000, 10_000_000)
    assert (row.done, row.total, row.budget_version) == (9998, 12000, 4)


def test_store_tells_a_stopped_dataset_from_a_finished_one(attempt: Attempt, writer: events.EventWriter) -> None:
    writer.emit(dataset_finished(reason="stopped"))
    assert store(attempt).state == DatasetState.STOPPED


def test_store_draws_at_most_one_point_a_second(attempt: Attempt) -> None:
    moment = timezone.now() - timedelta(seconds=60)
    with (Path(attempt.folder) / "events.jsonl").open("ab") as file:
        for step in range(10):
            t = moment + timedelta(seconds=0.4 * step)
            file.write(events.encode(progress(tokens=step * 100), seq=step + 1, now=t))
        file.write(events.encode(dataset_finished(), seq=11, now=moment + timedelta(seconds=3.8)))
    store(attempt)
    tokens = MetricPoint.objects.filter(name="tokens", series="B1")
    assert list(tokens.values_list("value", flat=True)) == [0, 300, 600, 900, 1010]
    rates = MetricPoint.objects.filter(name="tokens_per_s", series="B1")
    assert list(rates.values_list("value", flat=True)) == [50, 50, 50, 50, 0]


def test_store_moves_the_progress_clock_only_when_something_moved(attempt: Attempt, writer: events.EventWriter) -> None:
    writer.emit(progress(tokens=100))
    store(attempt)
    attempt.refresh_from_db()
    first = attempt.progress_at
    assert first is not None
    writer.emit(progress(tokens=100))
    writer.emit(events.Warned(text="hot"))
    store(attempt)
    attempt.refresh_from_db()
    assert attempt.progress_at == first
    writer.emit(progress(tokens=200))
    store(attempt)
    attempt.refresh_from_db()
    assert attempt.progress_at > first


def test_store_takes_over_what_the_stage_says_of_itself(attempt: Attempt, writer: events.EventWriter) -> None:
    writer.emit(events.StatusChanged(text="loading the tokenizer", paused=True))
    writer.emit(events.StageInterrupted(reason="stopped by ada", summary={"tokens": 7}))
    Ingestor(attempt).store()
    attempt.refresh_from_db()
    assert (attempt.waiting_for, attempt.paused, attempt.summary) == ("loading the tokenizer", True, {"tokens": 7})


def test_store_acknowledges_messages(attempt: Attempt, writer: events.EventWriter) -> None:
    controls.leave(attempt, SetBudget(dataset="B1", tokens=7, version=3), user=None)
    writer.emit(events.BudgetApplied(dataset="B1", budget=7, previous=9, budget_version=3))
    store(attempt)
    assert ControlMessage.objects.get().acknowledged_at is not None


def test_store_keeps_unknown_and_odd_events_raw(attempt: Attempt) -> None:
    odd: list[dict[str, object]] = [
        {"kind": "moon_phase", "phase": 3},
        {"kind": "generation_progress", "dataset": "B1", "done": "many"},
        {"kind": "k" * 100, "text": "\0\ud800<script>"},
        {"kind": "warning", "text": "the end"},
    ]
    with (Path(attempt.folder) / "events.jsonl").open("w") as file:
        for seq, body in enumerate(odd, start=1):
            file.write(json.dumps({"seq": seq, "t": "2026-11-30T00:00:00Z", **body}) + "\n")
    Ingestor(attempt).store()
    stored = list(Event.objects.values_list("seq", "kind", "payload"))
    assert stored == [
        (1, "moon_phase", {"phase": 3}),
        (2, "generation_progress", {"dataset": "B1", "done": "many"}),
        (3, "k" * 40, {"text": "␀?<script>"}),
        (4, "warning", {"text": "the end"}),
    ]
    assert not DatasetProgress.objects.exists()


def test_store_fits_numbers_into_their_columns(attempt: Attempt, writer: events.EventWriter) -> None:
    writer.emit(progress(dataset="B1", done=-5, tokens=2**70, longest=2**40))
    row = store(attempt)
    assert (row.done, row.tokens, row.longest) == (0, 2**63 - 1, 2**31 - 1)
