import os
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.optim.lr_scheduler import LambdaLR

from pipeline.artifacts import read_json, sha256_file
from pipeline.batching import build_batch
from pipeline.checkpoint import (
    damage,
    export_checkpoint,
    latest_checkpoint,
    load_drafter,
    load_training_state,
    read_checkpoint,
    save_checkpoint,
)
from pipeline.checkpoint_check import check_folder
from pipeline.errors import DataError, DiskFullError
from pipeline.loss import TrainingTimeTest
from pipeline.model import Drafter
from pipeline.training_state import DataPosition, capture_state, restore_state
from tests.support.tiny_drafter import Tiny, document, tiny


def saved(folder: Path, **changes: object) -> Path:
    save_checkpoint(folder, tiny(dtype=torch.float32).drafter, lineage={"run": 3}, **changes)  # type: ignore[arg-type]
    return folder


def test_loaded_drafter_computes_the_same(tmp_path: Path) -> None:
    setup = tiny(dtype=torch.float32)
    save_checkpoint(tmp_path / "step-1", setup.drafter, lineage={})
    loaded = load_drafter(tmp_path / "step-1", setup.drafter.embedding)
    batch = build_batch([document(20, (8, 20), seed=1)], steps=3)
    assert torch.equal(loaded(batch), setup.drafter(batch))
    assert torch.equal(loaded.vocabulary.token_ids, setup.drafter.vocabulary.token_ids)


def train(setup: Tiny, optimizer: torch.optim.AdamW, scheduler: LambdaLR, steps: range) -> list[float]:
    losses = []
    for step in steps:
        batch = build_batch([document(20, (8, 20), seed=step % 2), document(15, (5, 15), seed=2)], steps=3)
        result = TrainingTimeTest(setup.drafter, setup.teacher)(batch, setup.teacher.targets(batch))
        optimizer.zero_grad()
        torch.autograd.backward(result.loss)
        optimizer.step()
        scheduler.step()
        losses.append(float(result.loss.detach()))
    return losses


def optimizers(drafter: Drafter) -> tuple[torch.optim.AdamW, LambdaLR]:
    optimizer = torch.optim.AdamW(drafter.parameters(), lr=0.01, betas=(0.9, 0.95))
    return optimizer, LambdaLR(optimizer, lambda step: 1 / (1 + step))


def test_training_resumed_at_step_10_equals_20_uninterrupted_steps_bit_for_bit(tmp_path: Path) -> None:
    whole = tiny(dtype=torch.float32)
    expected = train(whole, *optimizers(whole.drafter), range(20))
    assert expected[-1] < expected[0]

    first = tiny(dtype=torch.float32)
    parts = optimizers(first.drafter)
    losses = train(first, *parts, range(10))
    save_checkpoint(
        tmp_path / "step-10", first.drafter, lineage={}, training_state=capture_state(*parts, DataPosition(step=10))
    )

    resumed = replace(first, drafter=load_drafter(tmp_path / "step-10", first.drafter.embedding))
    parts = optimizers(resumed.drafter)
    position = restore_state(load_training_state(tmp_path / "step-10"), *parts)
    losses += train(resumed, *parts, range(position.step, 20))
    assert losses == expected
    for name, weight in resumed.drafter.state_dict().items():
        assert torch.equal(weight, whole.drafter.state_dict()[name]), name


def test_checkpoint_passes_its_own_check_and_names_its_lineage(tmp_path: Path) -> None:
    folder = saved(tmp_path / "step-1", metrics={"loss": 1.5})
    assert check_folder(folder) == []
    manifest = read_json(folder / "manifest.json")
    assert (manifest["lineage"], manifest["metrics"]) == ({"run": 3}, {"loss": 1.5})
    assert manifest["files"] == {name: sha256_file(folder / name) for name in ("config.json", "model.safetensors")}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-1"]


def test_training_state_lies_beside_and_is_not_exported(tmp_path: Path) -> None:
    state = {"position": {"epoch": 1}, "optimizer": {"moment": torch.arange(3)}}
    folder = saved(tmp_path / "step-1", training_state=state)
    assert load_training_state(folder)["position"] == {"epoch": 1}
    export_checkpoint(folder, tmp_path / "export")
    assert sorted(path.name for path in (tmp_path / "export").iterdir()) == [
        "config.json",
        "manifest.json",
        "model.safetensors",
    ]
    with pytest.raises(DataError, match="can be started from, not resumed"):
        load_training_state(tmp_path / "export")


def test_export_casts_weights_and_keeps_the_mapping_and_the_lineage(tmp_path: Path) -> None:
    folder = saved(tmp_path / "step-1")
    export_checkpoint(folder, tmp_path / "export", dtype=torch.bfloat16)
    assert check_folder(tmp_path / "export") == []
    _, tensors = read_checkpoint(tmp_path / "export")
    assert tensors["fc.weight"].dtype == torch.bfloat16
    assert tensors["d2t"].dtype == torch.int64
    assert tensors["t2d"].dtype == torch.bool
    assert read_json(tmp_path / "export" / "config.json")["dtype"] == "bfloat16"
    lineage = read_json(tmp_path / "export" / "manifest.json")["lineage"]
    assert lineage == {"run": 3, "checkpoint": sha256_file(folder / "model.safetensors")}


def test_checkpoint_is_never_overwritten(tmp_path: Path) -> None:
    saved(tmp_path / "step-1")
    with pytest.raises(DataError, match="exists already"):
        saved(tmp_path / "step-1")


def test_drafter_with_nan_weights_is_not_written(tmp_path: Path) -> None:
    drafter = tiny(dtype=torch.float32).drafter
    with torch.no_grad():
        drafter.fc.weight[0, 0] = float("nan")
    with pytest.raises(DataError, match=r"not written.*model\.safetensors: fc\.weight: 1 of 1,728 values are NaN"):
        save_checkpoint(tmp_path / "step-1", drafter, lineage={})
    assert list(tmp_path.iterdir()) == []


def test_checkpoint_of_another_target_is_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path / "step-1")
    with pytest.raises(DataError, match=r"embedding of \[50, 24\], the target's is \[51, 24\]"):
        load_drafter(folder, torch.zeros(51, 24))


def test_stranger_with_prefixed_names_and_the_whole_vocabulary_loads(tmp_path: Path) -> None:
    folder = saved(tmp_path / "step-1")
    config = (folder / "config.json").read_text()
    (folder / "config.json").write_text(config.replace('"draft_vocab_size": 20', '"draft_vocab_size": 50'))
    tensors = load_file(folder / "model.safetensors")
    renamed = {f"model.{name}": tensor for name, tensor in tensors.items() if name not in ("d2t", "t2d", "lm_head.weight")}
    save_file(renamed | {"lm_head.weight": torch.zeros(50, 24)}, folder / "model.safetensors")
    _, found = read_checkpoint(folder)
    assert found["d2t"].tolist() == [0] * 50
    assert found["t2d"].tolist() == [True] * 50


def test_latest_is_the_highest_step_that_is_complete(tmp_path: Path) -> None:
    assert latest_checkpoint(tmp_path) is None
    for step in (90, 100, 20):
        saved(tmp_path / f"step-{step:06}")
    (tmp_path / "step-000200").mkdir()
    assert latest_checkpoint(tmp_path) == tmp_path / "step-000100"


def test_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFullError, match=r"disk full while writing model\.safetensors"):
        saved(tmp_path / "step-1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damage", [b"junk", b""])
def test_a_damaged_training_state_is_named(tmp_path: Path, damage: bytes) -> None:
    folder = saved(tmp_path / "step-1", training_state={"position": {"epoch": 1}})
    (folder / "training" / "state.pt").write_bytes(damage)
    with pytest.raises(DataError, match=r"state\.pt: damaged or cut"):
        load_training_state(folder)


def test_a_training_state_that_was_cut_is_named(tmp_path: Path) -> None:
    folder = saved(tmp_path / "step-1", training_state={"position": {"epoch": 1}})
    path = folder / "training" / "state.pt"
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(DataError, match=r"state\.pt: damaged"):
        load_training_state(folder)


def test_damage_names_the_file_that_is_not_what_was_saved(tmp_path: Path) -> None:
    folder = saved(tmp_path / "step-1", training_state={"position": {"epoch": 1}})
    assert damage(folder) == ""
    (folder / "training" / "state.pt").write_bytes(b"junk")
    assert damage(folder).startswith(f"{folder}/training/state.pt: not what was saved")
    (folder / "training" / "state.pt").unlink()
    assert damage(folder) == f"{folder}/training/state.pt: missing"
