import json
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.artifacts import AttemptFolder, write_json
from pipeline.events import read_events
from tests.support.models import tiny_tokenizer
from tests.support.servers import ROOT, stub_engine
from tests.support.stub_engine import Behaviour


def benchmark(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline", "benchmark", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)


@pytest.mark.slow
def test_run_by_flags_prints_a_table_and_goes_on_where_it_ended(tmp_path: Path) -> None:
    (tmp_path / "B1.jsonl").write_text("".join(json.dumps({"prompt": f"question {n}"}) + "\n" for n in range(9)))
    arguments = ["--target", str(tiny_tokenizer(tmp_path / "t")), "--prompts", str(tmp_path / "B1.jsonl")]
    arguments += ["--out", str(tmp_path / "out"), "--held-out-share", "1", "--prompts-per-dataset", "2"]
    arguments += ["--max-new-tokens", "8"]
    with (
        stub_engine(Behaviour(vocab_size=300)) as (_, plain),
        stub_engine(Behaviour(vocab_size=300, draft_steps=2)) as (_, url),
    ):
        arguments += ["--plain", plain, "--served-drafter", url]
        first = benchmark(*arguments)
        assert first.returncode == 0, first.stderr
        second = benchmark(*arguments, "--json")
    assert "INFO 1/6 B1 plain, 1 at once: " in first.stderr
    lines = first.stdout.splitlines()
    assert [line.split("│")[3].strip() for line in lines if line.startswith("│")] == ["plain", "drafter 2/1/3"] * 2
    summary = json.loads(second.stdout)
    assert summary["passes"] == 6
    assert " ".join(first.stdout.split()).endswith(summary["verdict"])
    assert "at once" not in second.stderr
    assert sorted(path.name for path in (tmp_path / "out" / "attempts").iterdir()) == ["1", "2"]


def test_unknown_key_is_named_at_the_shell_and_in_the_events(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {"project": "p", "output": "o", "target": "t", "shape": "3/1/4"})
    done = benchmark(str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line for line, _ in read_events(AttemptFolder(tmp_path).events)]
    assert [line.kind for line in lines] == ["stage_started", "stage_failed"]
    assert "unknown key shape" in lines[1].payload["reason"]


def test_benchmark_whose_supervisor_is_gone_does_not_begin(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {})
    done = benchmark(str(tmp_path), "--supervisor-pid", "1")
    assert (done.returncode, done.stderr) == (3, "error: the supervisor is gone\n")


def test_missing_flags_are_named() -> None:
    done = benchmark("--target", "t")
    assert (done.returncode, done.stderr) == (2, "error: a run without a RUN_FOLDER needs --prompts\n")


def test_help_documents_every_flag() -> None:
    done = benchmark("--help")
    assert done.returncode == 0
    for flag in (
        "RUN_FOLDER",
        "--prompts-per-dataset N",
        "--concurrency N,…",
        "--shape STEPS/TOPK/TOKENS",
        "--plain URL",
        "--json",
    ):
        assert flag in done.stdout
    assert "Exit status: 0 finished, 1 failed" in done.stdout
