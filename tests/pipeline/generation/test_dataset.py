from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.config import DatasetPlan, SamplingConfig
from pipeline.control import SetBudget
from pipeline.event import Event
from pipeline.generation.dataset import MAX_ABORTS, DatasetRun, Phase
from pipeline.generation.request import failure
from pipeline.responses.record import Scope
from pipeline.responses.store import ResponseStore
from tests.support.answers import answer
from tests.support.generation import made_up

SCOPE = Scope(dataset="B1", revision="r1", sampling="greedy00")


class Bench:
    """A dataset of twenty prompts and what it says."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.events: list[Event] = []
        self.runs: list[DatasetRun] = []
        self.prompts = made_up("B1", 20)
        (root / "prompts.jsonl").write_bytes(b"".join(row.to_line() for row in self.prompts))

    def open(self, *, retry_errors: bool = False, **plan: Any) -> DatasetRun:
        values = {"slug": "B1", "revision": "r1", "prompts": str(self.root / "prompts.jsonl")}
        full = DatasetPlan(**values, **plan, sampling=SamplingConfig(max_new_tokens=10))  # type: ignore[arg-type]
        store = ResponseStore(self.root / "responses", SCOPE)
        run = DatasetRun(full, store, prompts=20, retry_errors=retry_errors, emit=self.events.append)
        self.runs.append(run)
        return run

    def answer_all(self, run: DatasetRun, *, tokens: int = 10, limit: int = 100) -> int:
        """Admit and answer until nothing more is admitted; how many were."""
        for n in range(limit):
            prompt = run.admit(float(n))
            if prompt is None:
                return n
            run.keep(answer(0, scope=SCOPE, key=prompt.key, tokens=tokens), n + 0.5)
        return limit

    def said(self) -> list[str]:
        names = [event.kind for event in self.events]
        self.events.clear()
        return names


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    one = Bench(tmp_path)
    yield one
    for run in one.runs:
        run.close()


def budget(tokens: int | None, version: int, **changes: Any) -> SetBudget:
    return SetBudget(dataset="B1", tokens=tokens, version=version, **changes)


def test_dataset_goes_from_waiting_over_active_to_ended(bench: Bench) -> None:
    run = bench.open(budget=50)
    run.skip_if_done()
    assert run.phase is Phase.WAITING
    assert bench.answer_all(run) == 5
    assert (run.phase, run.truncated) == (Phase.ACTIVE, 0)
    run.settle(9.0)
    assert (run.phase, run.reason) == (Phase.ENDED, "budget_met")
    assert bench.said() == ["dataset_started", "generation_progress", "dataset_finished"]
    assert run.summary()["tokens"] == 50


def test_dataset_with_an_answer_in_flight_does_not_end(bench: Bench) -> None:
    run = bench.open(budget=10)
    prompt = run.admit(0.0)
    assert prompt is not None
    run.settle(1.0)
    assert run.phase is Phase.ACTIVE
    assert run.progress(1.0).in_flight_tokens == 10


@pytest.mark.parametrize(
    ("plan", "reason"),
    [({"budget": 40}, "budget_met"), ({"max_samples": 4}, "max_samples"), ({"enabled": False}, "disabled")],
)
def test_dataset_that_needs_nothing_is_skipped_with_numbers(bench: Bench, plan: dict[str, Any], reason: str) -> None:
    first = bench.open(max_samples=4)
    assert bench.answer_all(first) == 4
    first.close()
    bench.runs.clear()
    bench.events.clear()
    run = bench.open(budget_version=7, **plan)
    run.skip_if_done()
    (event,) = bench.events
    assert event.kind == "dataset_skipped"
    told = vars(event)
    assert (told["reason"], told["tokens"], told["done"], told["prompts"], told["budget_version"]) == (reason, 40, 4, 20, 7)


def test_dataset_that_is_answered_in_full_is_skipped_without_its_prompts(bench: Bench) -> None:
    first = bench.open()
    assert bench.answer_all(first) == 20
    first.settle(30.0)
    assert first.reason == "exhausted"
    first.close()
    bench.runs.clear()
    (bench.root / "prompts.jsonl").unlink()
    run = bench.open()
    run.skip_if_done()
    assert (run.phase, run.reason) == (Phase.ENDED, "exhausted")


def test_dataset_takes_a_lower_budget_and_ends(bench: Bench) -> None:
    run = bench.open(budget=1000)
    assert bench.answer_all(run, limit=6) == 6
    bench.events.clear()
    run.set_budget(budget(30, 2), 7.0)
    assert run.admit(7.0) is None
    run.settle(7.0)
    assert bench.said() == ["budget_applied", "generation_progress", "dataset_finished"]
    assert run.reason == "budget_met"


def test_dataset_that_ended_is_opened_again_by_a_higher_budget(bench: Bench) -> None:
    run = bench.open(budget=20)
    bench.answer_all(run)
    run.settle(5.0)
    bench.events.clear()
    run.set_budget(budget(60, 2), 6.0)
    assert run.phase is Phase.ACTIVE
    assert bench.said() == ["budget_applied", "dataset_started"]
    assert bench.answer_all(run) == 4


def test_dataset_that_was_skipped_waits_for_its_turn_after_a_higher_budget(bench: Bench) -> None:
    run = bench.open(enabled=False)
    run.skip_if_done()
    run.set_budget(budget(20, 2), 0.0)
    assert run.phase is Phase.WAITING
    assert bench.said() == ["dataset_skipped", "budget_applied"]
    assert bench.answer_all(run) == 2


def test_dataset_that_has_no_prompt_left_is_not_opened_again(bench: Bench) -> None:
    run = bench.open(budget=1000)
    bench.answer_all(run)
    run.settle(30.0)
    run.set_budget(budget(5000, 2), 31.0)
    assert (run.phase, run.reason) == (Phase.ENDED, "exhausted")


def test_dataset_ignores_an_older_version_and_acknowledges_the_newer(bench: Bench) -> None:
    run = bench.open(budget=20, budget_version=5)
    run.set_budget(budget(999, 4), 0.0)
    assert vars(bench.events[-1]) == {"dataset": "B1", "budget": 20, "max_samples": None, "previous": 20, "budget_version": 5}


def test_dataset_that_never_started_and_is_switched_off_is_skipped(bench: Bench) -> None:
    run = bench.open(budget=20)
    run.set_budget(budget(20, 2, enabled=False), 0.0)
    run.settle(0.0)
    assert bench.said() == ["budget_applied", "dataset_skipped"]
    assert run.reason == "disabled"


def test_dataset_keeps_failures_and_asks_them_again_only_when_told(bench: Bench) -> None:
    run = bench.open()
    prompt = run.admit(0.0)
    assert prompt is not None
    run.keep(failure(prompt, SCOPE, "too long"), 1.0)
    assert (run.store.failures, run.quota.in_flight) == (1, 0)
    assert bench.answer_all(run) == 19
    run.close()
    bench.runs.clear()
    bench.events.clear()
    left = bench.open()
    left.skip_if_done()
    assert [(vars(event)["done"], vars(event)["errors"]) for event in bench.events] == [(19, 1)]
    left.close()
    bench.runs.clear()
    again = bench.open(retry_errors=True)
    again.skip_if_done()
    assert bench.answer_all(again) == 1
    assert again.store.failures == 0


def test_dataset_gives_an_aborted_prompt_out_again_and_then_gives_up(bench: Bench) -> None:
    run = bench.open()
    first = run.admit(0.0)
    assert first is not None
    assert run.give_back(first, blamed=False)
    assert bench.answer_all(run, limit=19) == 19
    for _ in range(MAX_ABORTS):
        assert run.admit(50.0) == first
        assert run.give_back(first)
    assert run.admit(60.0) == first
    assert not run.give_back(first)
    assert run.finish_reasons == {"stop": 19, "abort": MAX_ABORTS + 1}


def test_dataset_that_is_stopped_says_so(bench: Bench) -> None:
    run = bench.open()
    bench.answer_all(run, limit=3)
    run.settle(4.0, stopped=True)
    assert run.reason == "stopped"


def test_dataset_that_had_not_started_says_nothing_when_the_run_stops(bench: Bench) -> None:
    run = bench.open()
    run.settle(4.0, stopped=True)
    assert bench.said() == []


def test_dataset_tells_when_it_will_be_done(bench: Bench) -> None:
    run = bench.open(budget=100)
    assert run.progress(0.0).eta_s is None
    bench.answer_all(run, limit=5)
    told = run.progress(5.0)
    assert (told.done, told.tokens, told.requests_per_s, told.tokens_per_s, told.eta_s) == (5, 50, 1.0, 10.0, 5.0)
