import json
from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.training import saving


def checkpoint(folder: Path, step: int, **metrics: float) -> Path:
    path = saving.checkpoint_folder(folder, step)
    path.mkdir(parents=True)
    (path / "manifest.json").write_text(json.dumps({"metrics": metrics}))
    return path


def test_best_has_the_longest_simulated_accept_length_the_newest_of_equals(tmp_path: Path) -> None:
    checkpoint(tmp_path, 1, simulated_accept_length=1.5)
    checkpoint(tmp_path, 2, simulated_accept_length=1.9)
    third = checkpoint(tmp_path, 3, simulated_accept_length=1.9)
    checkpoint(tmp_path, 4)
    assert saving.best_checkpoint(tmp_path) == third


def test_best_goes_by_decoding_only_when_all_were_decoded(tmp_path: Path) -> None:
    first = checkpoint(tmp_path, 1, simulated_accept_length=1.9)
    checkpoint(tmp_path, 2, simulated_accept_length=1.5, accept_length=1.4)
    assert saving.best_checkpoint(tmp_path) == first
    (first / "manifest.json").write_text(json.dumps({"metrics": {"simulated_accept_length": 1.9, "accept_length": 1.3}}))
    assert saving.best_checkpoint(tmp_path) == tmp_path / "step-000002"


def test_folder_without_a_manifest_is_never_best_nor_resumed(tmp_path: Path) -> None:
    (tmp_path / "step-000009").mkdir()
    assert (saving.best_checkpoint(tmp_path), saving.resumable_checkpoint(tmp_path)) == (None, None)


def test_newest_with_training_state_is_resumed(tmp_path: Path) -> None:
    first, _ = checkpoint(tmp_path, 8), checkpoint(tmp_path, 1000000)
    (first / "training").mkdir()
    (first / "training" / "state.pt").touch()
    assert saving.resumable_checkpoint(tmp_path) == first


def test_old_checkpoints_go_but_the_best_and_the_last_stay(tmp_path: Path) -> None:
    for step, length in enumerate((1.1, 1.9, 1.2, 1.3, 1.4), start=1):
        checkpoint(tmp_path, step, simulated_accept_length=length)
    gone = saving.remove_old(tmp_path, keep_last=2)
    assert [path.name for path in gone] == ["step-000001", "step-000003"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-000002", "step-000004", "step-000005"]


def test_leftovers_of_a_killed_process_are_swept_away(tmp_path: Path) -> None:
    whole = checkpoint(tmp_path, 1)
    for name in (".step-000002.ab12", ".removed-step-000000"):
        (tmp_path / name / "training").mkdir(parents=True)
    saving.sweep(tmp_path)
    assert list(tmp_path.iterdir()) == [whole]


def test_a_stray_file_is_swept_like_a_folder(tmp_path: Path) -> None:
    (tmp_path / ".step-000999.abc").write_text("")
    saving.sweep(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_manifest_is_named(tmp_path: Path) -> None:
    (tmp_path / "step-000010").mkdir()
    (tmp_path / "step-000010" / "manifest.json").write_text("{")
    with pytest.raises(DataError, match=r"step-000010/manifest\.json: damaged, no JSON"):
        saving.best_checkpoint(tmp_path)
