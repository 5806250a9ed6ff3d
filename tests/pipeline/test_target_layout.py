import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from pipeline.errors import ConfigError
from pipeline.target_layout import target_layout


def model(folder: Path, **config: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    save_file({"embed_tokens.weight": torch.ones(2, 2)}, folder / "model.safetensors")
    return folder


def test_layout_tells_the_size_of_states_without_reading_weights(tmp_path: Path) -> None:
    layout = target_layout(model(tmp_path / "big", num_hidden_layers=61, hidden_size=7168, vocab_size=163840))
    assert layout.feature_layers.hidden_states == (2, 30, 58)
    assert layout.feature_layers.sglang == (1, 29, 57)
    assert layout.bytes_per_token == 4 * 7168 * 2 + 9
    assert layout.target.startswith("big@")


def test_nested_text_config_is_read(tmp_path: Path) -> None:
    text = {"num_hidden_layers": 8, "hidden_size": 16, "vocab_size": 32}
    assert target_layout(model(tmp_path, text_config=text, hidden_size=999)).hidden_size == 16


def test_layers_that_are_not_there_and_missing_sizes_are_named(tmp_path: Path) -> None:
    folder = model(tmp_path, num_hidden_layers=4, hidden_size=16, vocab_size=32)
    assert target_layout(folder, feature_layers=(1, 2, 3)).feature_layers.hidden_states == (1, 2, 3)
    with pytest.raises(ConfigError, match="no layer 4: a feature is the input of one of 4 layers"):
        target_layout(folder, feature_layers=(1, 2, 4))
    with pytest.raises(ConfigError, match="too shallow"):
        target_layout(folder)
    with pytest.raises(ConfigError, match="hidden_size, vocab_size is missing"):
        target_layout(model(tmp_path, num_hidden_layers=4))
