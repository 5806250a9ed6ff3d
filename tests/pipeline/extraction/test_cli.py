"""`python -m pipeline extract` as a process: by flags, stopped, killed, refused."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from pipeline.artifacts import AttemptFolder, read_json, write_json
from pipeline.config import to_mapping
from pipeline.events import read_events
from pipeline.extraction.config import ExtractConfig
from pipeline.extraction.target import load_target
from pipeline.shards import ShardReader
from tests.support.extraction import extract_config, random_answer, store_answers, tiny_target
from tests.support.servers import wait_until

pytestmark = pytest.mark.slow

ANSWERS = 300
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def prepared(root: Path, count: int = ANSWERS) -> ExtractConfig:
    """Shards so small that the stage writes them most of the time."""
    tiny_target(root)
    store_answers(root, [random_answer(n) for n in range(count)])
    return extract_config(root, shard_bytes=1 << 17, batch_tokens=64)


@contextmanager
def started(root: Path, config: ExtractConfig, number: int) -> Iterator[tuple[subprocess.Popen[bytes], AttemptFolder]]:
    folder = AttemptFolder(root / "attempts" / str(number))
    folder.path.mkdir(parents=True)
    write_json(folder.config, to_mapping(config))
    with folder.log.open("wb") as log:
        command = [sys.executable, "-m", "pipeline", "extract", str(folder.path)]
        process = subprocess.Popen(command, stdout=log, stderr=log, env=ENVIRONMENT)
    try:
        yield process, folder
    finally:
        process.kill()
        process.wait()


def kinds(folder: AttemptFolder) -> list[str]:
    return [line.kind for line, _ in read_events(folder.events)]


def assert_whole(root: Path, *, documents: int | None = None) -> int:
    """What is on disk loads, each document once and as a target reads it; how many there are."""
    reader = ShardReader(root / "hidden")
    names = [document.name for document in reader.documents]
    assert len(set(names)) == len(names)
    assert documents in (None, len(names))
    if names:
        target = load_target(root / "target", reader.layout, max_length=256, device="cpu")
        for document in reader.load([0, len(names) - 1]):
            assert torch.equal(document.features, target.read([document.token_ids])[0].features)
    return len(names)


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_attempt_that_ends_early_leaves_whole_shards_and_the_next_one_goes_on(tmp_path: Path, ending: signal.Signals) -> None:
    config = prepared(tmp_path)
    with started(tmp_path, config, 1) as (process, folder):
        wait_until(lambda: kinds(folder).count("shard_written") >= 3, "three shards are written", 120)
        process.send_signal(ending)
        assert process.wait(60) == (-signal.SIGKILL if ending == signal.SIGKILL else 3)
    assert kinds(folder)[-1] == ("stage_interrupted" if ending == signal.SIGTERM else kinds(folder)[-1])
    kept = assert_whole(tmp_path)
    assert 0 < kept < ANSWERS
    assert not (tmp_path / "hidden" / "manifest.json").exists()
    with started(tmp_path, config, 2) as (process, folder):
        assert process.wait(120) == 0, folder.log.read_text()[-2000:]
    first = next(line.payload for line, _ in read_events(folder.events) if line.kind == "extraction_progress")
    assert first["documents"] == kept
    assert assert_whole(tmp_path, documents=ANSWERS) == ANSWERS
    assert read_json(tmp_path / "hidden" / "manifest.json")["documents"] == ANSWERS


def extract(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline", "extract", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=ENVIRONMENT)


def test_run_by_flags_says_what_it_did(tmp_path: Path) -> None:
    prepared(tmp_path, 20)
    flags = ("--responses", tmp_path / "responses", "--target", tmp_path / "target", "--out", tmp_path / "out")
    done = extract(*flags)
    assert done.returncode == 0, done.stderr
    assert "INFO started: B1 rev1" in done.stderr
    assert "INFO finished: 20 answers" in done.stderr
    assert read_json(tmp_path / "out" / "attempts" / "1" / "config.json")["datasets"][0]["revision"] == "rev1"
    assert len(ShardReader(tmp_path / "out")) == 20


def test_wrong_flags_and_configs_are_refused_with_a_reason(tmp_path: Path) -> None:
    missing = extract("--responses", tmp_path)
    assert (missing.returncode, missing.stderr) == (2, "error: a run without a RUN_FOLDER needs --target, --out\n")
    folder = AttemptFolder(tmp_path / "attempt")
    folder.path.mkdir()
    write_json(folder.config, {"project": "p"})
    wrong = extract(folder.path)
    assert wrong.returncode == 2
    assert kinds(folder) == ["stage_started", "stage_failed"]
