from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from pipeline.errors import DataError
from pipeline.model_fingerprint import model_fingerprint, same_model


def model(folder: Path, value: float) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    save_file({"embed_tokens.weight": torch.full((4, 4), value)}, folder / "model.safetensors")
    return folder


def test_equal_weights_have_equal_digits_in_any_folder(tmp_path: Path) -> None:
    one, copy = model_fingerprint(model(tmp_path / "one", 1.0)), model_fingerprint(model(tmp_path / "copy", 1.0))
    assert one.startswith("one@")
    assert same_model(one, copy)


def test_other_weights_or_another_config_have_other_digits(tmp_path: Path) -> None:
    one, tuned = model(tmp_path / "one", 1.0), model(tmp_path / "tuned", 1.1)
    before = model_fingerprint(one)
    assert not same_model(before, model_fingerprint(tuned))
    (one / "config.json").write_text('{"rope_theta": 1}')
    assert not same_model(before, model_fingerprint(one))


def test_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"config\.json is missing"):
        model_fingerprint(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(DataError, match="no safetensors file"):
        model_fingerprint(tmp_path)
