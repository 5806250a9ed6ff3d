"""The flow as a real process over a stub engine."""

import random
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.artifacts import read_json
from pipeline.config import SamplingConfig
from pipeline.responses.manifest import MANIFEST
from pipeline.responses.reading import iter_records
from pipeline.responses.record import Scope, record_seed, sampling_name
from pipeline.responses.store import ResponseStore
from tests.support.disks import SmallDisk
from tests.support.generation import GenerateRun, generate_run
from tests.support.servers import wait_until
from tests.support.stub_engine import StubEngine, answer_for

pytestmark = pytest.mark.slow


def test_run_answers_until_each_budget_is_met(run: GenerateRun, stub: StubEngine) -> None:
    run.add("B1", 200, budget=1200)
    run.add("B2", 200, max_samples=20, temperature=0.7, seed=5)
    run.add("B3", 15)
    run.add("B4", 15, enabled=False)
    stage = run.finish()
    ends = {line.payload["dataset"]: line.payload["reason"] for line in stage.said("dataset_finished")}
    assert ends == {"B1": "budget_met", "B2": "max_samples", "B3": "exhausted"}
    assert [line.payload["reason"] for line in stage.said("dataset_skipped", dataset="B4")] == ["disabled"]
    count = run.recount()
    assert 1200 <= count["B1"].tokens <= 1200 + count["B1"].longest
    assert (count["B2"].answers, count["B3"].answers) == (20, 15)
    assert stage.events[0].kind == "stage_started"
    assert stage.events[-1].kind == "stage_finished"
    assert [line.seq for line in stage.events] == list(range(1, len(stage.events) + 1))
    assert all(read_json(run.responses / slug / MANIFEST)["scopes"][0]["answers"] == count[slug].answers for slug in count)


def test_run_tells_what_is_on_disk(run: GenerateRun) -> None:
    run.add("B1", 60, budget=500)
    run.add("B2", 40)
    stage = run.finish()
    for slug, count in run.recount().items():
        told = stage.said("dataset_finished", dataset=slug)[0].payload
        assert (told["done"], told["tokens"], told["truncated"], told["longest"], told["errors"]) == (
            count.answers,
            count.tokens,
            count.truncated,
            count.longest,
            0,
        )
        last = stage.said("generation_progress", dataset=slug)[-1].payload
        assert (last["done"], last["tokens"], last["in_flight"]) == (count.answers, count.tokens, 0)


def test_records_hold_what_the_engine_answered(run: GenerateRun, stub: StubEngine) -> None:
    run.add("B1", 12, temperature=0.7, seed=5)
    run.finish()
    for record in iter_records(run.responses / "B1"):
        seed = record_seed(5, record.key)
        expected = answer_for(record.prompt_ids, seed=seed, max_new_tokens=64, behaviour=stub.behaviour)
        assert (record.seed, record.output_ids, record.text) == (seed, expected.ids, expected.text)
        assert (record.finish_reason, record.completion_tokens) == (expected.finish_reason, len(expected.ids))
        assert (record.engine, record.prompt_tokens, record.revision) == ("e1", len(record.prompt_ids), "r1")
        assert record.messages[0]["content"].startswith("question ")


def test_next_dataset_starts_before_the_last_answers_of_the_first(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, token_s=0.01)
    run.add("B1", 100, budget=600)
    run.add("B2", 20)
    stage = run.finish()
    first_end = stage.said("dataset_finished", dataset="B1")[0]
    assert stage.said("dataset_started", dataset="B2")[0].t < first_end.t


def test_interleaved_datasets_advance_together(run: GenerateRun) -> None:
    run.config["order"] = "interleaved"
    for slug in ("B1", "B2", "B3"):
        run.add(slug, 40)
    stage = run.finish()
    starts = [line.seq for line in stage.said("dataset_started")]
    assert len(starts) == 3
    assert max(starts) < stage.said("dataset_finished")[0].seq


@pytest.mark.alone
def test_second_attempt_skips_what_is_met_within_two_seconds(run: GenerateRun) -> None:
    run.add("B1_glaive", 60, budget=300)
    run.add("B2", 20)
    run.finish()
    stage = run.finish()
    skipped = stage.said("dataset_skipped")
    tokens = run.recount()["B1_glaive"].tokens
    assert [(line.payload["dataset"], line.payload["reason"]) for line in skipped] == [
        ("B1_glaive", "budget_met"),
        ("B2", "exhausted"),
    ]
    assert (skipped[0].payload["tokens"], skipped[0].payload["budget"]) == (tokens, 300)
    assert max(line.t.timestamp() for line in skipped) - stage.started < 2
    assert f"INFO B1_glaive: budget already met, skipped, {tokens} of 300 tokens\n" in stage.log


def test_other_sampling_is_another_set_of_answers(run: GenerateRun) -> None:
    run.add("B1", 10)
    run.finish()
    run.config["datasets"][0]["sampling"]["temperature"] = 1.0
    run.finish()
    count = run.recount()["B1"]
    assert (count.answers, count.duplicates) == (20, 0)


def test_killed_runs_lose_nothing_and_double_nothing(run: GenerateRun) -> None:
    rng = random.Random(4)
    run.add("B1", 150, budget=2000)
    run.add("B2", 150, budget=2000)
    acknowledged = {"B1": 0, "B2": 0}
    for _ in range(5):
        stage = run.start()
        stage.wait_for("dataset_started")
        time.sleep(rng.uniform(0.0, 0.5))
        stage.kill()
        for line in stage.said("generation_progress"):
            slug = line.payload["dataset"]
            acknowledged[slug] = max(acknowledged[slug], line.payload["done"])
        count = run.recount()
        assert all(slug not in count or count[slug].answers >= done for slug, done in acknowledged.items())
    stage = run.finish()
    count = run.recount()
    for slug in ("B1", "B2"):
        assert (count[slug].duplicates, count[slug].unreadable) == (0, 0)
        assert 2000 <= count[slug].tokens <= 2000 + count[slug].longest
        ended = stage.said("dataset_finished", dataset=slug) + stage.said("dataset_skipped", dataset=slug)
        assert (ended[0].payload["done"], ended[0].payload["tokens"]) == (count[slug].answers, count[slug].tokens)


def test_torn_line_is_cut_reported_and_answered_again(run: GenerateRun) -> None:
    run.add("B1", 12)
    run.finish()
    part = run.responses / "B1" / "part-00001.jsonl"
    lines = part.read_bytes().splitlines(keepends=True)
    part.write_bytes(b"".join(lines[:-1]) + lines[-1][:50])
    stage = run.finish()
    assert stage.said("warning")[0].payload == {
        "text": f"{part}, line 12: a torn last line of 50 bytes was cut off",
        "dataset": "B1",
    }
    count = run.recount()["B1"]
    assert (count.answers, count.duplicates, count.unreadable) == (12, 0, 0)


def test_store_that_another_process_holds_fails_the_run_with_its_name(run: GenerateRun) -> None:
    run.add("B1", 5)
    way = sampling_name(SamplingConfig(max_new_tokens=64))
    with ResponseStore(run.responses / "B1", Scope(dataset="B1", revision="r1", sampling=way)):
        stage = run.start()
        assert stage.wait() == 1
    reason = stage.said("stage_failed")[0].payload["reason"]
    assert "B1 is being written by process " in reason
    assert run.finish().said("stage_finished")


def test_full_disk_fails_the_run_and_freeing_it_lets_it_go_on(small_disk: SmallDisk, engine: tuple[StubEngine, str]) -> None:
    stub, url = engine
    stub.behaviour = replace(stub.behaviour, latency_s=0.0, token_s=0.0)
    with generate_run(small_disk.path, url) as run:
        run.add("B1", 600)
        stage = run.start()
        assert stage.wait() == 1
        last = stage.events[-1]
        assert last.kind == "stage_failed"
        assert last.payload["reason"].startswith("disk full while writing ")
        before = run.recount()["B1"]
        assert (before.duplicates, before.unreadable) == (0, 0)
        assert 0 < before.answers < 600
        assert before.answers >= stage.said("generation_progress")[-1].payload["done"]
        small_disk.free()
        assert run.finish().said("stage_finished")
        after = run.recount()["B1"]
        assert (after.answers, after.duplicates, after.unreadable) == (600, 0, 0)


def test_overshoot_of_long_tailed_answers_stays_within_one(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, sigma=1.2, token_s=0.0005, latency_s=0.0)
    run.config["concurrency"] = 16
    for n in range(1, 7):
        run.add(f"B{n}", 250, budget=1000 + 200 * n, max_new_tokens=256)
    run.finish()
    for slug, count in run.recount().items():
        budget = next(plan["budget"] for plan in run.config["datasets"] if plan["slug"] == slug)
        assert 0 <= count.tokens - budget <= max(count.longest, 0.005 * budget)


@pytest.mark.alone
def test_ticks_come_from_the_loop_every_second(run: GenerateRun, stub: StubEngine) -> None:
    stub.behaviour = replace(stub.behaviour, hang=True)
    run.add("B1", 5)
    stage = run.start()
    stage.wait_for("dataset_started")
    seen: set[str] = set()

    def three_ticks() -> bool:
        seen.add(stage.tick["t"])
        return len(seen) >= 3

    started = time.monotonic()
    wait_until(three_ticks, "three ticks were seen", 6)
    assert time.monotonic() - started < 4


def test_rotten_index_is_built_again_and_said(run: GenerateRun) -> None:
    run.add("B1", 12)
    run.finish()
    index = run.responses / "B1" / "index.bin"
    index.unlink()
    stage = run.finish()
    assert stage.said("warning")[0].payload["text"] == f"{index} was missing: 12 lines were read again from the parts"
    assert stage.said("dataset_skipped", reason="exhausted")


def test_dataset_named_twice_fails_the_run(run: GenerateRun) -> None:
    run.add("B1", 5)
    run.add("B1", 5)
    stage = run.start()
    assert stage.wait() == 1
    assert stage.events[-1].payload["reason"] == "named twice among the datasets: B1"


def test_run_of_nothing_but_done_datasets_needs_no_engine(tmp_path: Path) -> None:
    with generate_run(tmp_path / "run") as run:
        run.add("B1", 5, enabled=False)
        assert run.finish().events[-1].payload["summary"]["tokens"] == 0
