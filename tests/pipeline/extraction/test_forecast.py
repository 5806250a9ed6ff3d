import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.errors import DiskFullError
from pipeline.extraction.forecast import require_room
from pipeline.feature_layers import FeatureLayers
from pipeline.shard_layout import Layout

KIMI = Layout(
    target="Kimi@0",
    hidden_size=7168,
    vocab_size=163_840,
    feature_layers=FeatureLayers((2, 30, 58)),
    last_hidden="post_norm",
    dtype="bfloat16",
)


def test_states_that_fit_are_told_in_bytes(tmp_path: Path) -> None:
    assert require_room(tmp_path, replace(KIMI, hidden_size=8), 10) == 10 * (4 * 8 * 2 + 9)


def test_states_that_do_not_fit_are_refused_with_both_numbers_and_a_way_out(tmp_path: Path) -> None:
    tokens = shutil.disk_usage(tmp_path).total // KIMI.bytes_per_token + 1_000_000
    with pytest.raises(DiskFullError) as refused:
        require_room(tmp_path, KIMI, tokens)
    text = str(refused.value)
    assert f"the hidden states of {tokens:,} tokens take {tokens * 57_353 / 1e9:,.1f} GB (57,353 bytes a token)" in text
    assert f"are free in {tmp_path}" in text
    assert "Online training needs no disk" in text
