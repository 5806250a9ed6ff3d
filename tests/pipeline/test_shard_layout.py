from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.artifacts import write_json
from pipeline.errors import ConfigError, DataError
from pipeline.feature_layers import FeatureLayers
from pipeline.shard_layout import Layout

LAYOUT = Layout(
    target="kimi", hidden_size=7168, vocab_size=163840, feature_layers=FeatureLayers((2, 30, 58)), last_hidden="pre_norm",
    dtype="bfloat16",
)  # fmt: skip


def test_layout_comes_back_as_it_was(tmp_path: Path) -> None:
    write_json(tmp_path / "layout.json", LAYOUT.to_json())
    assert Layout.read(tmp_path) == LAYOUT


def test_layout_of_another_format_is_refused(tmp_path: Path) -> None:
    write_json(tmp_path / "layout.json", LAYOUT.to_json() | {"format": 2})
    with pytest.raises(DataError, match="another format"):
        Layout.read(tmp_path)


def test_unknown_dtype_is_refused() -> None:
    with pytest.raises(ConfigError, match="'int8'"):
        replace(LAYOUT, dtype="int8")
