"""Runs over engines that misbehave, as real processes."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.config import GenerateConfig
from pipeline.datasets.conversation import new_conversation
from pipeline.errors import ConfigError, DataError
from pipeline.generation.engines import Engines, Limits
from pipeline.responses.failures import iter_failures
from pipeline.responses.reading import iter_records
from tests.support.generation import GenerateRun, generate_run, made_up
from tests.support.servers import stub_engine, stub_process, wait_until
from tests.support.stub_engine import Behaviour, StubEngine


def test_limits_leave_the_answer_what_the_prompt_does_not_take() -> None:
    limits = Limits(vocab_size=10, context_length=100)
    assert [limits.room(50, 30), limits.room(50, 80), limits.room(99, 80)] == [30, 50, 1]
    assert Limits(vocab_size=10, context_length=None).room(10**6, 80) == 80
    with pytest.raises(DataError, match="the prompt has 100 tokens, and the context is 100"):
        limits.room(100, 80)


def test_engines_of_a_run_without_any_are_refused() -> None:
    config = GenerateConfig(project="p", responses="r", tokenizer="t")
    with pytest.raises(ConfigError, match="the run has no engine to ask"):
        Engines(config, on_change=lambda change: None)


@pytest.mark.slow
def test_prompt_that_an_engine_refuses_is_its_own_error(run: GenerateRun, stub: StubEngine) -> None:
    bad = new_conversation(label="bad one", input_ids=(7, 8, 9))
    outside = new_conversation(label="outside", input_ids=(7, 10**6))
    long = new_conversation(label="long", input_ids=(5,) * 300)
    stub.behaviour = replace(stub.behaviour, bad_token=8, context_length=256)
    run.add("B1", [*made_up("B1", 10), bad, outside, long])
    stage = run.finish()
    end = stage.said("dataset_finished")[0].payload
    assert (end["done"], end["errors"], end["reason"]) == (10, 3, "exhausted")
    reasons = {failure.id: failure.reason for failure in iter_failures(run.responses / "B1")}
    assert set(reasons) == {"bad one", "outside", "long"}
    assert "a token id is not in 0 …" in reasons["outside"]
    assert reasons["long"] == "the prompt has 300 tokens, and the context is 256"
    assert any("no answer to prompt bad one: " in line.payload["text"] for line in stage.said("warning"))
    assert stub.counts["rejected"] == 1


@pytest.mark.slow
def test_errors_are_asked_again_only_when_told(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, bad_token=8)
    run.add("B1", [*made_up("B1", 3), new_conversation(label="bad", input_ids=(7, 8))])
    run.finish()
    stub.behaviour = replace(stub.behaviour, bad_token=-1)
    assert run.finish().said("dataset_skipped", reason="exhausted")
    run.config["retry_errors"] = True
    end = run.finish().said("dataset_finished")[0].payload
    assert (end["done"], end["errors"]) == (4, 0)


@pytest.mark.slow
def test_run_without_one_answer_fails_with_the_commonest_reason_until_errors_are_asked_again(
    run: GenerateRun, stub: StubEngine
) -> None:
    run.add("B1", [new_conversation(label=f"p{n}", input_ids=(7, 10**6 + n % 2)) for n in range(5)])
    run.add("B2", 5, enabled=False)
    first = run.start()
    assert first.wait() == 1
    asked_once = stub.counts["rejected"]
    reasons = Counter(failure.reason for failure in iter_failures(run.responses / "B1"))
    often = reasons.most_common(1)[0][0]
    said = f"all 5 prompts failed; most often: {often}. Once that is mended, a run that retries errors asks them again"
    assert first.said("dataset_finished")[0].payload["errors"] == 5
    assert first.events[-1].payload == {"reason": said, "kept": "everything that was written before"}
    again = run.start()
    assert again.wait() == 1
    assert again.said("dataset_skipped", dataset="B1")[0].payload["errors"] == 5
    assert (again.events[-1].payload["reason"], stub.counts["rejected"]) == (said, asked_once)
    run.add("B3", 2)
    assert run.finish().said("stage_finished")


@pytest.mark.slow
def test_answer_to_a_prompt_that_nearly_fills_the_context_is_shortened(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, context_length=110)
    run.add("B1", [new_conversation(label="long", input_ids=(5,) * 100)], ignore_eos=True)
    run.finish()
    (record,) = iter_records(run.responses / "B1")
    assert (record.completion_tokens, record.finish_reason) == (10, "length")


@pytest.mark.slow
def test_trouble_of_all_kinds_costs_no_answer(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, cut_every=7, abort_every=11, max_in_flight=5)
    run.add("B1", 80)
    stage = run.finish()
    count = run.recount()["B1"]
    assert (count.answers, count.errors, count.duplicates) == (80, 0, 0)
    assert stub.counts["cut"] > 0
    assert stub.counts["aborted"] > 0
    assert stage.said("engine_changed", state="busy")


@pytest.mark.slow
def test_prompt_that_engines_abort_is_asked_again(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, abort_every=1)
    run.add("B1", 2)
    stage = run.start()
    wait_until(lambda: stub.counts["aborted"] > 4, "answers were aborted")
    stub.behaviour = replace(stub.behaviour, abort_every=0)
    assert stage.wait() == 0
    assert run.recount()["B1"].answers == 2


@pytest.mark.slow
def test_engine_that_dies_and_comes_back_is_waited_for(tmp_path: Path) -> None:
    behaviour = Behaviour(latency_s=0.05, mean_tokens=20)
    with stub_process(behaviour) as (process, url), generate_run(tmp_path, url) as run:
        run.add("B1", 120)
        stage = run.start()
        stage.wait_for("sample_logged")
        process.kill()
        process.wait()
        stage.wait_for("engine_changed", state="down")
        wait_until(lambda: "no engine answers" in stage.tick["waiting_for"], "the tick says so")
        with stub_process(behaviour, port=int(url.rsplit(":", 1)[1])):
            assert stage.wait() == 0
        assert stage.said("engine_changed", state="ok")
        count = run.recount()["B1"]
        assert (count.answers, count.duplicates, count.errors) == (120, 0, 0)


@pytest.mark.slow
def test_two_engines_share_the_work(tmp_path: Path) -> None:
    behaviour = Behaviour(latency_s=0.05, mean_tokens=20)
    with (
        stub_engine(behaviour) as (first, one),
        stub_engine(behaviour) as (second, two),
        generate_run(tmp_path, one, two) as run,
    ):
        run.add("B1", 60)
        run.finish()
        assert {record.engine for record in iter_records(run.responses / "B1")} == {"e1", "e2"}
        assert first.counts["answers"] + second.counts["answers"] == 60
        assert min(first.counts["answers"], second.counts["answers"]) > 20
