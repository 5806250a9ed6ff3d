"""What people ask of a running process."""

import time
from dataclasses import replace
from typing import Any

import pytest

from pipeline.control import Control, Pause, Resume, SetBudget, SetConcurrency, Stop
from pipeline.events import Line
from tests.support.generation import GenerateRun, StageProcess
from tests.support.servers import wait_until
from tests.support.stub_engine import StubEngine

pytestmark = [pytest.mark.slow, pytest.mark.alone]


def acknowledged(stage: StageProcess, message: Control, kind: str, **fields: Any) -> Line:
    """Tell the stage something and return its answer, which must come within a second."""
    told = time.time()
    stage.tell(message)
    line = stage.wait_for(kind, timeout_s=5, **fields)
    assert line.t.timestamp() - told < 1
    return line


def budget(tokens: int | None, version: int, slug: str = "B1", **changes: Any) -> SetBudget:
    return SetBudget(dataset=slug, tokens=tokens, version=version, **changes)


@pytest.fixture
def busy(run: GenerateRun, stub: StubEngine) -> StageProcess:
    """A run with two datasets that would take long, under way."""
    stub.behaviour = replace(stub.behaviour, latency_s=0.15)
    run.add("B1", 2000, budget=100_000)
    run.add("B2", 12)
    stage = run.start()
    wait_until(lambda: any(line.payload["done"] > 10 for line in stage.said("generation_progress")), "answers come in")
    return stage


def test_lower_budget_below_what_is_done_ends_the_dataset(busy: StageProcess, run: GenerateRun) -> None:
    line = acknowledged(busy, budget(20, 2), "budget_applied", dataset="B1")
    assert line.payload == {"dataset": "B1", "budget": 20, "max_samples": None, "previous": 100_000, "budget_version": 2}
    assert busy.wait() == 0
    end = busy.said("dataset_finished", dataset="B1")[0].payload
    count = run.recount()["B1"]
    assert (end["reason"], end["budget"]) == ("budget_met", 20)
    assert (end["done"], end["tokens"]) == (count.answers, count.tokens)


def test_lower_budget_above_what_is_done_is_met(busy: StageProcess, run: GenerateRun) -> None:
    done = busy.said("generation_progress", dataset="B1")[-1].payload["tokens"]
    acknowledged(busy, budget(done + 800, 2), "budget_applied", dataset="B1")
    assert busy.wait() == 0
    count = run.recount()["B1"]
    assert done + 800 <= count.tokens <= done + 800 + count.longest


def test_higher_budget_opens_a_finished_dataset_again(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, latency_s=0.1)
    run.add("B1", 300, budget=100)
    run.add("B2", 2000)
    stage = run.start()
    stage.wait_for("dataset_finished", dataset="B1")
    acknowledged(stage, budget(600, 2), "budget_applied", dataset="B1")
    stage.wait_for("dataset_finished", dataset="B1", budget=600)
    acknowledged(stage, budget(None, 2, "B2", enabled=False), "budget_applied", dataset="B2")
    assert stage.wait() == 0
    assert stage.said("dataset_finished", dataset="B2")[0].payload["reason"] == "disabled"
    assert 600 <= run.recount()["B1"].tokens <= 700


def test_higher_budget_opens_a_skipped_dataset(run: GenerateRun, stub: StubEngine) -> None:
    run.add("B1", 50, enabled=False)
    run.add("B2", 2000)
    stage = run.start()
    stage.wait_for("dataset_started", dataset="B2")
    acknowledged(stage, budget(100, 2), "budget_applied", dataset="B1")
    stage.wait_for("dataset_finished", dataset="B1", reason="budget_met")


def test_pause_lets_answers_finish_and_sends_no_more(busy: StageProcess, stub: StubEngine) -> None:
    line = acknowledged(busy, Pause(), "status_changed", paused=True)
    assert line.payload["text"] == "paused"
    wait_until(lambda: stub.in_flight == 0, "nothing is in flight")
    requests = stub.counts["requests"]
    wait_until(lambda: busy.tick["waiting_for"] == "paused", "the tick says paused")
    assert stub.counts["requests"] == requests
    acknowledged(busy, Resume(), "status_changed", paused=False)
    wait_until(lambda: stub.counts["requests"] > requests, "requests go out again")


def test_concurrency_changes_while_the_run_works(busy: StageProcess, stub: StubEngine) -> None:
    line = acknowledged(busy, SetConcurrency(n=20), "concurrency_applied")
    assert line.payload == {"concurrency": 20, "previous": 8}
    wait_until(lambda: stub.in_flight == 20, "twenty are in flight")
    acknowledged(busy, SetConcurrency(n=2), "concurrency_applied", concurrency=2)
    wait_until(lambda: stub.in_flight == 2, "two are in flight")


def test_stop_saves_the_work_and_frees_the_engine(busy: StageProcess, stub: StubEngine, run: GenerateRun) -> None:
    stub.behaviour = replace(stub.behaviour, hang=True)
    wait_until(lambda: stub.in_flight == 8, "all slots hang")
    told = time.monotonic()
    busy.tell(Stop(reason="stopped by ada"))
    assert busy.wait(10) == 3
    assert time.monotonic() - told < 5
    assert stub.in_flight == 0
    last = busy.events[-1]
    assert (last.kind, last.payload["reason"]) == ("stage_interrupted", "stopped by ada")
    end = busy.said("dataset_finished", dataset="B1")[0].payload
    assert (end["reason"], end["done"]) == ("stopped", run.recount()["B1"].answers)


def test_term_is_a_stop(busy: StageProcess) -> None:
    busy.process.terminate()
    assert busy.wait(10) == 3
    assert busy.events[-1].payload["reason"] == "stopped by SIGTERM"


def test_end_of_the_control_input_is_a_stop(busy: StageProcess) -> None:
    assert busy.process.stdin is not None
    busy.process.stdin.close()
    assert busy.wait(10) == 3
    assert busy.events[-1].payload["reason"] == "the supervisor is gone"


def test_nonsense_is_warned_of_and_changes_nothing(busy: StageProcess) -> None:
    assert busy.process.stdin is not None
    busy.process.stdin.write(b'{"kind": "dance"}\n')
    busy.process.stdin.flush()
    acknowledged(busy, SetConcurrency(n=0), "warning", text="a concurrency of 0 is none; to hold a run, pause it")
    acknowledged(busy, budget(5, 2, "B9"), "warning", text="a budget for 'B9', which is not in this run, changes nothing")
    assert "not a control message" in busy.said("warning")[0].payload["text"]
    assert busy.process.poll() is None


def test_stop_before_any_engine_answers_ends_the_run(run: GenerateRun) -> None:
    run.config["engines"] = [{"name": "e1", "url": "http://127.0.0.1:9"}]
    run.add("B1", 5)
    stage = run.start()
    wait_until(lambda: stage.folder.heartbeat.exists() and "no engine answers" in stage.tick["waiting_for"], "it waits", 30)
    stage.tell(Stop(reason="stopped by ada"))
    assert stage.wait(10) == 3
    assert stage.events[-1].payload["reason"] == "stopped by ada"
