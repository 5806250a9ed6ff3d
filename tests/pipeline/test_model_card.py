from pathlib import Path
from typing import Any

import pytest
import torch

from pipeline.artifacts import read_json
from pipeline.checkpoint import save_checkpoint
from pipeline.checkpoint_check import check_folder
from pipeline.draft_shape import DraftShape
from pipeline.errors import DataError
from pipeline.model_card import write_model_card
from pipeline.sglang_command import launch_command
from tests.support.tiny_drafter import tiny

LINEAGE = {
    "target": "/models/Tiny-1B",
    "licence": "apache-2.0",
    "run": 3,
    "datasets": [{"dataset": "B1_glaive", "documents": 1200, "tokens": 250_000, "licence": "MIT"}, {"dataset": "B2|<x>"}],
}
METRICS = {"simulated_accept_length": 2.5, "accept_length": 1.9, "eval_loss": 3.25}


def row(mode: str = "drafter", **changes: Any) -> dict[str, Any]:
    """A row of a benchmark's summary."""
    plain = mode == "plain"
    values: dict[str, Any] = {
        "dataset": "",
        "mode": mode,
        "shape": "" if plain else "3/1/4",
        "concurrency": 1,
        "tokens_per_s": 100.0,
        "tokens_per_s_low": 90.0,
        "tokens_per_s_high": 110.0,
        "speedup": None if plain else 1.25,
        "speedup_low": None if plain else 1.2,
        "speedup_high": None if plain else 1.3,
        "accept_length": None if plain else 1.8,
    }
    return values | changes


BENCHMARK = {
    "rows": [row("plain"), row(), row("lookup", accept_length=1.5), row(dataset="B1")],
    "verdict": "The drafter decodes 1.25× faster.",
    "repetitions": 3,
    "dtype": "float32",
    "device": "cpu",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "step-000100", tiny(dtype=torch.float32).drafter, lineage=LINEAGE, metrics=METRICS)
    return tmp_path / "step-000100"


def test_card_tells_what_the_manifest_knows(folder: Path) -> None:
    text = write_model_card(folder).read_text()
    assert text.startswith(
        '---\nlibrary_name: "sglang"\ntags: ["eagle3", "speculative-decoding"]\nbase_model: "Tiny-1B"\n'
        'license: "apache-2.0"\n---\n'
    )
    assert "# EAGLE-3 drafter for Tiny-1B" in text
    assert "| simulated, teacher-forced on held-out answers: overstates decoding | 2.50 |" in text
    assert "| decoded, on held-out prompts while it was trained | 1.90 |" in text
    assert "| B1_glaive | 1,200 | 250,000 | MIT |" in text
    assert "| `fc.weight` | 24 × 72 |" in text
    assert '"run": 3' in text
    assert "## Benchmark" not in text


def test_card_leaves_out_what_nobody_told(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "step-1", tiny(dtype=torch.float32).drafter, lineage={})
    text = write_model_card(tmp_path / "step-1").read_text()
    assert "license" not in text
    assert "base_model" not in text
    assert "Training data" not in text
    assert "## Accept length" not in text


def test_card_keeps_its_benchmark_when_it_is_written_again(folder: Path) -> None:
    write_model_card(folder, benchmark=BENCHMARK)
    text = write_model_card(folder).read_text()
    assert "| all | 1 | plain | 100.0 (90.0–110.0) | baseline |  |" in text
    assert "| all | 1 | drafter 3/1/4 | 100.0 (90.0–110.0) | 1.25× (1.20–1.30) | 1.80 |" in text
    assert "| B1 | 1 | drafter 3/1/4 |" in text
    assert "The drafter decodes 1.25× faster." in text
    assert "Median and spread of 3 repetitions" in text
    assert "| decoded, by the benchmark below | 1.80 |" in text
    assert read_json(folder / "benchmark.json") == BENCHMARK


def test_card_serves_the_shape_that_was_fastest(folder: Path) -> None:
    rows = [row("plain"), row(), row(shape="5/4/16", tokens_per_s=140.0), row(shape="7/1/8", tokens_per_s=300.0, concurrency=4)]
    text = write_model_card(folder, benchmark=BENCHMARK | {"rows": rows}).read_text()
    command = launch_command(target="/models/Tiny-1B", drafter=str(folder), shape=DraftShape(steps=5, topk=4, draft_tokens=16))
    assert command in text


def test_text_of_others_ends_no_cell_and_begins_no_tag(folder: Path) -> None:
    text = write_model_card(folder, benchmark=BENCHMARK | {"verdict": "<script>\x1b[31m\nred"}).read_text()
    assert "| B2\\|&lt;x> |" in text
    assert "&lt;script> [31m red" in text
    assert "\x1b" not in text


def test_card_leaves_the_checkpoint_sound(folder: Path) -> None:
    manifest = read_json(folder / "manifest.json")
    write_model_card(folder, benchmark=BENCHMARK)
    assert check_folder(folder) == []
    assert read_json(folder / "manifest.json") == manifest


def test_hub_name_stays_whole(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "s", tiny(dtype=torch.float32).drafter, lineage={"target": "owner/Tiny-1B"})
    assert 'base_model: "owner/Tiny-1B"' in write_model_card(tmp_path / "s").read_text()


def test_fingerprint_of_a_target_is_called_by_its_name_and_served_from_its_folder(tmp_path: Path) -> None:
    lineage = {"target": "Tiny-1B@0123456789ab", "config": {"target": "/models/Tiny-1B"}}
    save_checkpoint(tmp_path / "s", tiny(dtype=torch.float32).drafter, lineage=lineage)
    text = write_model_card(tmp_path / "s").read_text()
    assert 'base_model: "Tiny-1B"' in text
    assert "--model-path /models/Tiny-1B " in text


def test_licences_come_with_the_prompts_that_were_measured(tmp_path: Path) -> None:
    lineage = {"datasets": [{"dataset": "B1", "documents": 3, "tokens": 40}]}
    save_checkpoint(tmp_path / "s", tiny(dtype=torch.float32).drafter, lineage=lineage)
    prompts = [{"dataset": "B1", "licence": "Apache-2.0"}]
    text = write_model_card(tmp_path / "s", benchmark=BENCHMARK | {"prompts": prompts}).read_text()
    assert "| B1 | 3 | 40 | Apache-2.0 |" in text


def test_folder_without_a_checkpoint_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no checkpoint to write a card for"):
        write_model_card(tmp_path)
