"""The flow as a real process over engines that run already: stubs that count verifications as SGLang does."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pipeline.control import Pause, Resume, Stop
from tests.support.benchmark import BenchmarkRun, benchmark_run
from tests.support.generation import StageProcess
from tests.support.servers import stub_engine, wait_until
from tests.support.stub_answers import accepted_drafts
from tests.support.stub_engine import Behaviour, StubEngine

pytestmark = pytest.mark.slow

PLAIN = Behaviour(latency_s=0.03, token_s=0.002, mean_tokens=20, vocab_size=400)
SPEEDS = {
    "plain": PLAIN,
    "lookup": replace(PLAIN, token_s=0.0015, draft_steps=2),
    "drafter": replace(PLAIN, token_s=0.0005, draft_steps=3),
}

Stubs = dict[str, StubEngine]


@contextmanager
def serving(root: Path) -> Iterator[tuple[BenchmarkRun, Stubs]]:
    """A run of two datasets over a plain engine, one with prompt lookup, one with a drafter."""
    with ExitStack() as stack:
        engines = {mode: stack.enter_context(stub_engine(how)) for mode, how in SPEEDS.items()}
        run = stack.enter_context(benchmark_run(root))
        run.add("B1")
        run.add("B2")
        run.serve(**{mode: url for mode, (_, url) in engines.items()})
        yield run, {mode: stub for mode, (stub, _) in engines.items()}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[BenchmarkRun, Stubs]]:
    with serving(tmp_path / "run") as found:
        yield found


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[BenchmarkRun, StageProcess]]:
    """A run at two concurrencies that has ended, for tests that only look."""
    with serving(tmp_path_factory.mktemp("finished")) as (run, _):
        run.config["concurrency"] = [1, 2]
        yield run, run.finish()


@pytest.fixture
def run(served: tuple[BenchmarkRun, Stubs]) -> BenchmarkRun:
    return served[0]


@pytest.fixture
def stubs(served: tuple[BenchmarkRun, Stubs]) -> Stubs:
    return served[1]


def measured(run: BenchmarkRun, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run.output / "measured.jsonl").read_text().splitlines()]
    return [line for line in lines if line["kind"] == kind]


def test_all_modes_are_measured_on_the_same_prompts_beside_one_another(finished: tuple[BenchmarkRun, StageProcess]) -> None:
    run, stage = finished
    passes = [line.payload for line in stage.said("benchmark_measured")]
    assert [(one["repetition"], one["concurrency"], one["dataset"], one["mode"]) for one in passes[:6]] == [
        (1, 1, "B1", "plain"),
        (1, 1, "B1", "lookup"),
        (1, 1, "B1", "drafter"),
        (1, 1, "B2", "plain"),
        (1, 1, "B2", "lookup"),
        (1, 1, "B2", "drafter"),
    ]
    assert [one["mode"] for one in passes[12:15]] == ["lookup", "drafter", "plain"]
    assert [(one["done"], one["total"]) for one in passes] == [(n, 24) for n in range(1, 25)]
    assert passes[-1]["eta_s"] == 0
    keys = {
        (line["dataset"], line["mode"]): sorted(
            other["key"]
            for other in measured(run, "request")
            if (other["dataset"], other["mode"]) == (line["dataset"], line["mode"])
        )
        for line in measured(run, "request")
    }
    assert keys["B1", "plain"] == keys["B1", "lookup"] == keys["B1", "drafter"]
    assert len(set(keys["B1", "plain"])) == 3


def test_rows_say_what_the_engines_counted(finished: tuple[BenchmarkRun, StageProcess]) -> None:
    run, stage = finished
    told = [line.payload for line in stage.said("benchmark_summarised")]
    assert len(told) == 18
    rows = {(row["dataset"], row["mode"]): row for row in told if row["concurrency"] == 1}
    assert set(rows) == {(dataset, mode) for dataset in ("", "B1", "B2") for mode in ("plain", "lookup", "drafter")}
    answers = [
        line
        for line in measured(run, "request")
        if (line["dataset"], line["mode"], line["concurrency"]) == ("B1", "drafter", 1)
    ]
    accepted = [count for answer in answers for count in accepted_drafts(answer["output_ids"], 3)]
    tokens = sum(answer["completion_tokens"] for answer in answers)
    row = rows["B1", "drafter"]
    assert (row["requests"], row["tokens"], row["shape"]) == (6, tokens, "3/1/4")
    assert row["accept_length"] == tokens / len(accepted)
    assert row["acceptance"][0] == sum(count > 0 for count in accepted) / len(accepted)
    assert row["identical"] == row["requests"]
    assert row["first_token_s"] > 0
    assert row["inter_token_s"] > 0
    assert row["speedup_low"] <= row["speedup"] <= row["speedup_high"]
    plain = rows["", "plain"]
    assert (plain["speedup"], plain["accept_length"], plain["identical"]) == (None, None, None)
    assert rows["", "lookup"]["shape"] == "2/1/3"
    assert rows["", "drafter"]["requests"] == 12
    assert stage.said("stage_finished")[0].payload["summary"]["speedup"] == rows["", "drafter"]["speedup"]


def test_summary_names_everything_that_the_numbers_depend_on(finished: tuple[BenchmarkRun, StageProcess]) -> None:
    run, stage = finished
    summary = run.summary
    assert summary["rows"] == [line.payload for line in stage.said("benchmark_summarised")]
    assert summary["engines"]["drafter-3-1-4"]["speculative_num_steps"] == 3
    assert summary["engines"]["plain"]["version"] == "stub"
    assert [len(entry["keys"]) for entry in summary["prompts"]] == [3, 3]
    assert (summary["repetitions"], summary["passes"], summary["interrupted"]) == (2, 24, None)
    assert summary["verdict"].startswith("The drafter ")
    assert summary["verdict"] in stage.log


def test_answers_come_with_the_depth_of_their_drafts(finished: tuple[BenchmarkRun, StageProcess]) -> None:
    run, stage = finished
    told = [line.payload for line in stage.said("answer_drafted")]
    assert [json.loads(line) for line in (run.output / "answers.jsonl").read_text().splitlines()] == told
    assert [(answer["dataset"], answer["mode"], answer["shape"]) for answer in told] == [
        ("B1", "drafter", "3/1/4"),
        ("B2", "drafter", "3/1/4"),
    ]
    assert all(len(answer["pieces"]) == len(answer["depths"]) > 0 for answer in told)
    assert max(depth for answer in told for depth in answer["depths"]) == 3
    assert "of B1" in told[0]["prompt"]


def test_stop_waits_for_the_request_in_flight_and_the_next_attempt_goes_on(run: BenchmarkRun, stubs: Stubs) -> None:
    stage = run.start()
    stage.wait_for("benchmark_measured", done=7, timeout_s=60)
    stage.tell(Stop(reason="stopped by ada"))
    assert stage.wait() == 3
    assert all(stub.counts["disconnected"] == stub.counts["aborted"] == 0 for stub in stubs.values())
    last = stage.said("stage_interrupted")[0].payload
    kept = 3 * (len(stage.said("benchmark_measured")) // 3)
    assert 6 <= kept < 12
    assert (last["reason"], last["summary"]["passes"]) == ("stopped by ada", kept)
    assert run.summary["interrupted"] == "stopped by ada"
    # Both datasets were measured once, and that is what the rows over all of them are made of.
    assert run.summary["repetitions"] == 1
    assert stage.said("benchmark_summarised", dataset="", mode="drafter")[0].payload["requests"] == 6

    again = run.finish()
    # The group that the stop cut is measured again as a whole: its passes belong beside one another.
    assert [line.payload["done"] for line in again.said("benchmark_measured")] == list(range(kept + 1, 13))
    assert (run.summary["passes"], run.summary["repetitions"]) == (12, 2)
    assert again.said("benchmark_summarised", dataset="", mode="drafter")[0].payload["requests"] == 12


def test_killed_benchmark_goes_on_behind_a_torn_line(run: BenchmarkRun) -> None:
    stage = run.start()
    stage.wait_for("benchmark_measured", done=4, timeout_s=60)
    stage.kill()
    kept = 3 * (len(stage.said("benchmark_measured")) // 3)
    with (run.output / "measured.jsonl").open("ab") as file:
        file.write(b'{"kind":"request","setting"')
    again = run.finish()
    # A pass may stand in the file whose event was cut off.
    assert again.said("benchmark_measured")[0].payload["done"] in (kept + 1, kept + 4)
    assert run.summary["passes"] == 12


def test_other_setting_measures_anew(run: BenchmarkRun) -> None:
    run.finish()
    run.config["sampling"] = {"max_new_tokens": 12}
    again = run.finish()
    assert [line.payload["done"] for line in again.said("benchmark_measured")] == list(range(1, 13))
    run.config["repetitions"] = 3
    more = run.finish()
    assert [line.payload["done"] for line in more.said("benchmark_measured")] == list(range(13, 19))


def test_pause_holds_after_the_pass_that_has_begun(run: BenchmarkRun, stubs: Stubs) -> None:
    stage = run.start()
    stage.wait_for("benchmark_measured", timeout_s=60)
    stage.tell(Pause())
    stage.wait_for("status_changed", paused=True)
    wait_until(lambda: all(stub.in_flight == 0 for stub in stubs.values()), "nothing is in flight")
    stage.tell(Resume())
    stage.wait_for("status_changed", paused=False, text="")
    assert stage.wait() == 0
    assert run.summary["passes"] == 12


def test_engine_that_dies_ends_the_benchmark_with_its_name(run: BenchmarkRun, stubs: Stubs) -> None:
    stage = run.start()
    stage.wait_for("benchmark_measured", done=4, timeout_s=60)
    stubs["drafter"].behaviour = replace(stubs["drafter"].behaviour, refuse=True)
    assert stage.wait() == 1
    failed = stage.said("stage_failed")[0].payload
    assert failed["reason"].startswith("drafter: ")
    assert len(measured(run, "pass")) >= 4


def test_baseline_with_a_drafter_is_refused(run: BenchmarkRun, stubs: Stubs) -> None:
    stubs["plain"].behaviour = SPEEDS["drafter"]
    stage = run.start()
    assert stage.wait() == 1
    assert "plain is named plain, and runs with EAGLE3: that is no baseline" in stage.log


def test_drafter_without_drafts_is_refused(run: BenchmarkRun, stubs: Stubs) -> None:
    stubs["drafter"].behaviour = PLAIN
    stage = run.start()
    assert stage.wait() == 1
    assert "drafter tells no verifications (spec_verify_ct): it runs without drafts" in stage.log


def test_no_prompt_is_held_out_is_said(run: BenchmarkRun) -> None:
    run.config["held_out_share"] = 0.0
    stage = run.start()
    assert stage.wait() == 1
    reason = stage.said("stage_failed")[0].payload["reason"]
    assert reason.startswith("no prompt is left to measure: of the share of 0 that was held out from training")


def test_few_prompts_are_told(run: BenchmarkRun) -> None:
    run.config["prompts_per_dataset"] = 20
    stage = run.finish()
    warnings = [line.payload["text"] for line in stage.said("warning")]
    assert warnings == [f"{dataset}: 12 held-out prompts are measured, not 20: there are no more" for dataset in ("B1", "B2")]
