"""Real engines of our own, over a tiny target and a drafter that guesses some of its tokens."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from pipeline.artifacts import read_json, sha256_file
from pipeline.datasets.conversation import new_conversation
from tests.support.benchmark import BenchmarkRun, benchmark_run
from tests.support.generation import StageProcess
from tests.support.servers import wait_until
from tests.support.tiny_speculation import save_deep_target, save_tiny_drafter

pytestmark = pytest.mark.slow

ENGINES = ["drafter-3-1-4", "lookup-3-1-4", "plain"]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_deep_target(tmp_path_factory.mktemp("target"))


@pytest.fixture(scope="module")
def drafter(target: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_drafter(target, tmp_path_factory.mktemp("drafter") / "step-000001")


@contextmanager
def benchmark(root: Path, target: Path, drafter: Path) -> Iterator[BenchmarkRun]:
    with benchmark_run(root, target=target, drafter=str(drafter), drafter_name="r1 step 1") as made:
        made.add("B1", [new_conversation(label=f"p{n}", input_ids=(1, 5 + n, 7, 5 + n)) for n in range(6)])
        yield made


@pytest.fixture
def run(tmp_path: Path, target: Path, drafter: Path) -> Iterator[BenchmarkRun]:
    with benchmark(tmp_path / "run", target, drafter) as made:
        yield made


@pytest.fixture(scope="module")
def finished(
    target: Path, drafter: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[BenchmarkRun, StageProcess]]:
    """One that has ended, for tests that only look."""
    with benchmark(tmp_path_factory.mktemp("finished"), target, drafter) as made:
        made.config["concurrency"] = [1, 2]
        yield made, made.finish(240)


def pids(stage: StageProcess) -> dict[str, int]:
    """Of the engines that are ready, by name."""
    files = stage.folder.path.glob("engine-*.json")
    return {path.stem.removeprefix("engine-"): int(json.loads(path.read_text())["pid"]) for path in files}


def is_dead(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_engines_of_our_own_give_three_rows_and_the_same_tokens(
    finished: tuple[BenchmarkRun, StageProcess], drafter: Path
) -> None:
    run, stage = finished
    rows = {(row["mode"], row["concurrency"]): row for row in run.summary["rows"] if row["dataset"] == ""}
    assert set(rows) == {(mode, n) for mode in ("plain", "lookup", "drafter") for n in (1, 2)}
    for mode in ("lookup", "drafter"):
        for n in (1, 2):
            row = rows[mode, n]
            assert row["identical"] == row["requests"] == 6
            assert row["accept_length"] > 1
    assert rows["plain", 1]["tokens"] == rows["drafter", 1]["tokens"]
    assert "greedy answers differ" not in run.summary["verdict"]
    assert run.summary["drafter"] == {
        "name": "r1 step 1",
        "path": str(drafter),
        "sha256": sha256_file(drafter / "model.safetensors"),
    }
    assert sorted(run.summary["engines"]) == ENGINES
    assert run.summary["engines"]["plain"]["version"].startswith("embedded, ")
    (answer,) = [line.payload for line in stage.said("answer_drafted")]
    assert len(answer["pieces"]) == len(answer["depths"]) == 24
    assert max(answer["depths"]) > 0
    assert sorted(path.name for path in stage.folder.path.glob("engine-*")) == [f"engine-{name}.log" for name in ENGINES]


def test_finished_benchmark_stands_in_the_model_card(finished: tuple[BenchmarkRun, StageProcess], drafter: Path) -> None:
    run, _ = finished
    card = (drafter / "README.md").read_text()
    assert run.summary["verdict"] in card
    assert "| all | 1 | drafter 3/1/4 |" in card
    assert read_json(drafter / "benchmark.json")["measured"] == run.summary["measured"]


def test_killed_benchmark_leaves_no_engine_behind(run: BenchmarkRun) -> None:
    stage = run.start()
    stage.wait_for("benchmark_measured", timeout_s=120)
    found = pids(stage)
    assert sorted(found) == ENGINES
    assert not any(is_dead(pid) for pid in found.values())
    stage.kill()
    wait_until(lambda: all(is_dead(pid) for pid in found.values()), "all engines are dead", 5)


def test_term_to_the_whole_group_stops_behind_the_request_in_flight(run: BenchmarkRun) -> None:
    run.config["repetitions"] = 50
    stage = run.start()
    stage.wait_for("benchmark_measured", done=3, timeout_s=120)
    found = pids(stage)
    os.killpg(stage.process.pid, signal.SIGTERM)
    assert stage.wait() == 3
    assert stage.said("stage_interrupted")[0].payload["reason"] == "stopped by SIGTERM"
    assert run.summary["repetitions"] >= 1
    assert all(is_dead(pid) for pid in found.values())


def test_stop_does_not_wait_for_engines_that_load(run: BenchmarkRun) -> None:
    stage = run.start()
    wait_until(lambda: len(list(stage.folder.path.glob("engine-*.log"))) == len(ENGINES), "engines are being loaded", 60)
    stage.process.send_signal(signal.SIGTERM)
    assert stage.wait() == 3
    assert stage.said("benchmark_measured") == []


def test_drafter_of_another_target_is_refused_before_an_engine_loads(run: BenchmarkRun, drafter: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    values = read_json(drafter / "config.json") | {"vocab_size": 301}
    (other / "config.json").write_text(json.dumps(values))
    (other / "model.safetensors").write_bytes((drafter / "model.safetensors").read_bytes())
    run.config["drafter"] = str(other)
    stage = run.start()
    assert stage.wait() == 1
    assert "config.json: vocab_size is 301, the target's is 300" in stage.said("stage_failed")[0].payload["reason"]
    assert list(stage.folder.path.glob("engine-*")) == []
