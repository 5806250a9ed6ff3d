"""The engine as a process: what it prints, what it leaves, how it ends."""

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.servers import wait_until
from tests.support.tiny_speculation import save_tiny_drafter

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[str]]]:
    """Processes of a test; whatever still runs at its end is killed."""
    processes: list[subprocess.Popen[str]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(arguments: Sequence[str], started: list[subprocess.Popen[str]]) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "pipeline", "engine", *arguments, "--port", "0", "--threads", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)
    started.append(process)
    return process


def test_the_engine_says_where_it_listens_and_ends_on_a_signal(
    llama_folder: Path, tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    process = start(["--model", str(llama_folder), "--ready-file", str(tmp_path / "ready.json")], started)
    assert process.stdout is not None
    url = process.stdout.readline().removeprefix("engine listening on ").strip()
    assert process.stdout.readline() == f"engine ready: {llama_folder}\n"
    wait_until((tmp_path / "ready.json").exists, "the ready file is there")
    assert json.loads((tmp_path / "ready.json").read_text()) == {"url": url, "pid": process.pid}
    body = {"input_ids": [5, 6], "sampling_params": {"temperature": 0, "max_new_tokens": 4, "ignore_eos": True}}
    with urllib.request.urlopen(url + "/generate", json.dumps(body).encode(), timeout=20) as response:  # noqa: S310
        assert len(json.load(response)["output_ids"]) == 4
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=20)
    assert process.returncode in (0, -signal.SIGTERM)


def test_a_folder_without_a_model_is_an_error_that_says_so(tmp_path: Path, started: list[subprocess.Popen[str]]) -> None:
    process = start(["--model", str(tmp_path)], started)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    assert stderr.splitlines()[-1] == f"engine failed: no model in {tmp_path}: config.json is missing"


def test_a_drafter_of_another_model_ends_the_start_with_its_reason(
    llama_folder: Path, deep_folder: Path, tmp_path: Path, started: list[subprocess.Popen[str]]
) -> None:
    drafter = save_tiny_drafter(deep_folder, tmp_path / "drafter")
    process = start(["--model", str(llama_folder), "--draft-model", str(drafter)], started)
    _, stderr = process.communicate(timeout=60)
    assert process.returncode == 1
    reason = (
        f"engine failed: {drafter} is no drafter for {llama_folder}: config.json: the target has layers 0 to 1, features of"
    )
    assert stderr.splitlines()[-1].startswith(reason)
