"""kill -9 while shards, checkpoints and exports are written: what is there afterwards is whole."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from pipeline.checkpoint import latest_checkpoint, load_training_state
from pipeline.checkpoint_check import check_folder
from pipeline.shards import ShardReader, list_documents

ROOT = Path(__file__).parents[2]

WRITER = """
import itertools, sys
from pathlib import Path
import torch
from pipeline.checkpoint import export_checkpoint, save_checkpoint
from pipeline.feature_layers import FeatureLayers
from pipeline.shard_layout import Layout
from pipeline.shards import ShardWriter
from tests.support.tiny_drafter import document, tiny
home = Path(sys.argv[1])
drafter = tiny(dtype=torch.float32).drafter
layout = Layout(
    target="t", hidden_size=24, vocab_size=50, feature_layers=FeatureLayers((2, 4, 6)), last_hidden="pre_norm", dtype="float32"
)
writer = ShardWriter(home / "hidden", layout, shard_bytes=40_000)
for step in itertools.count(1):
    writer.add(document(60, (10, 60), seed=step))
    writer.add(document(60, (10, 60), seed=-step))
    if step % 5 == 0:
        writer.finish(inputs={})
    folder = home / "checkpoints" / f"step-{step:06}"
    save_checkpoint(folder, drafter, lineage={"step": step}, training_state={"moment": torch.zeros(50_000)})
    export_checkpoint(folder, home / "exports" / f"step-{step:06}")
"""


@pytest.mark.slow
@pytest.mark.parametrize("extra_s", [0.0, 0.011, 0.027])
def test_killed_writer_leaves_only_whole_files(tmp_path: Path, extra_s: float) -> None:
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], cwd=ROOT)
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "exports" / "step-000002").exists():
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.001)
        time.sleep(extra_s)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait(10)

    latest = latest_checkpoint(tmp_path / "checkpoints")
    assert latest is not None
    for folder in [*(tmp_path / "checkpoints").glob("step-*"), *(tmp_path / "exports").glob("step-*")]:
        assert check_folder(folder) == []
        assert (folder / "manifest.json").exists()
    assert load_training_state(latest)["moment"].shape == (50_000,)
    reader = ShardReader(tmp_path / "hidden")
    for index, stored in enumerate(list_documents(tmp_path / "hidden")):
        assert torch.isfinite(reader[index].features).all()
        assert len(reader[index].token_ids) == stored.tokens
