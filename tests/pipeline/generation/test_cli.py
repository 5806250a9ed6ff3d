import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.artifacts import AttemptFolder, read_json, write_json
from pipeline.events import read_events
from tests.support.generation import made_up
from tests.support.models import tiny_tokenizer
from tests.support.stub_engine import StubEngine


def generate(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline", "generate", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def flags(root: Path, url: str) -> list[str]:
    (root / "B1_glaive.jsonl").write_text("".join(json.dumps({"prompt": f"question {n}"}) + "\n" for n in range(30)))
    (root / "b2.json").write_text(json.dumps([{"messages": [{"role": "user", "content": f"q{n}"}]} for n in range(12)]))
    files = ["--prompts", str(root / "B1_glaive.jsonl"), f"B2_code={root / 'b2.json'}"]
    return [*files, "--engine", url, "--tokenizer", str(tiny_tokenizer(root / "tokenizer")), "--out", str(root / "out")]


@pytest.mark.slow
def test_run_by_flags_makes_its_own_attempts_and_goes_on_where_it_ended(tmp_path: Path, engine: tuple[StubEngine, str]) -> None:
    arguments = [*flags(tmp_path, engine[1]), "--token-budget", "300", "--max-new-tokens", "64"]
    first = generate(*arguments)
    assert first.returncode == 0, first.stderr
    assert re.search(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z INFO B1_glaive: started, 0 of 30", first.stderr, re.MULTILINE)
    second = generate(*arguments)
    assert re.search(r"INFO B1_glaive: budget already met, skipped, \d+ of 300 tokens", second.stderr)
    assert sorted(path.name for path in (tmp_path / "out" / "attempts").iterdir()) == ["1", "2"]
    config = read_json(tmp_path / "out" / "attempts" / "2" / "config.json")
    assert [(plan["slug"], plan["budget"], plan["prompts_count"]) for plan in config["datasets"]] == [
        ("B1_glaive", 300, 30),
        ("B2_code", 300, 12),
    ]


@pytest.mark.slow
def test_terminal_shows_a_line_for_each_dataset_that_moves(tmp_path: Path, engine: tuple[StubEngine, str]) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "pipeline", "generate", *flags(tmp_path, engine[1])]
    with subprocess.Popen(
        command, stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 65536):
                shown += chunk
        except OSError:
            pass  # a terminal whose other side has closed
        assert process.wait(60) == 0
    os.close(ours)
    assert re.search(rb"B1_glaive \d+/30 \(0 err\) \d+\.\d req/s avg_comp=\d+tok ETA=", shown)
    assert b"INFO B1_glaive: no prompt is left" in shown


def test_folder_without_a_config_is_refused(tmp_path: Path) -> None:
    done = generate(str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert "config.json" in done.stderr


def test_unknown_key_is_named_at_the_shell_and_in_the_events(tmp_path: Path) -> None:
    write_json(tmp_path / "config.json", {"project": "p", "responses": "r", "tokenizer": "t", "concurency": 3})
    done = generate(str(tmp_path))
    assert done.returncode == 2
    assert "unknown key concurency; known are project, " in done.stderr
    lines = [line for line, _ in read_events(AttemptFolder(tmp_path).events)]
    assert [line.kind for line in lines] == ["stage_started", "stage_failed"]
    assert "unknown key concurency" in lines[1].payload["reason"]


def test_missing_flags_are_named() -> None:
    done = generate("--prompts", "x")
    assert (done.returncode, done.stderr) == (2, "error: a run without a RUN_FOLDER needs --engine, --tokenizer\n")


def test_impossible_flags_are_refused(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_bytes(made_up("B1", 1)[0].to_line())
    done = generate(*flags(tmp_path, "http://127.0.0.1:9"), "--concurrency", "0")
    assert (done.returncode, done.stderr) == (2, "error: concurrency is 0; at least one request must be in flight\n")


def test_unusable_prompts_are_named(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("nonsense\n")
    arguments = ["--engine", "http://127.0.0.1:9", "--tokenizer", str(tmp_path), "--out", str(tmp_path / "out")]
    done = generate("--prompts", str(tmp_path / "empty.jsonl"), *arguments)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")


def test_help_documents_every_flag() -> None:
    done = generate("--help")
    assert done.returncode == 0
    for flag in (
        "RUN_FOLDER",
        "--token-budget N",
        "--order",
        "--max-samples N",
        "--temperature",
        "--retry-errors",
        "--thinking",
    ):
        assert flag in done.stdout
    assert "Exit status: 0 finished, 1 failed" in done.stdout


@pytest.mark.slow
def test_folder_of_an_import_is_taken_as_it_is(tmp_path: Path, engine: tuple[StubEngine, str]) -> None:
    arguments = flags(tmp_path, engine[1])
    assert generate(*arguments).returncode == 0
    (prompts,) = (tmp_path / "out" / "datasets" / "B1_glaive").glob("*/prompts.jsonl")
    again = ["--prompts", str(prompts), *arguments[3:-1], str(tmp_path / "other")]
    done = generate(*again)
    assert done.returncode == 0
    assert "INFO B1_glaive: no prompt is left" in done.stderr
    assert not (tmp_path / "other" / "datasets").exists()
