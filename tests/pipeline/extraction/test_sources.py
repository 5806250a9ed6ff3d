from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from pipeline.answer_sets import AnswerSet
from pipeline.batching import Document
from pipeline.errors import DataError
from pipeline.exclusions import Exclusions
from pipeline.extraction.sources import open_source
from pipeline.feature_layers import FeatureLayers
from pipeline.model_fingerprint import model_fingerprint
from pipeline.shard_layout import Layout
from pipeline.shards import ShardWriter
from pipeline.training.config import TrainConfig
from tests.support.tiny_drafter import document

CPU = torch.device("cpu")


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "target"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    save_file({"embed_tokens.weight": torch.ones(4, 4)}, folder / "model.safetensors")
    return folder


def layout(target: Path, **changes: Any) -> Layout:
    return replace(
        Layout(
            target=model_fingerprint(target),
            hidden_size=24,
            vocab_size=50,
            feature_layers=FeatureLayers((2, 4, 6)),
            last_hidden="post_norm",
            dtype="float32",
        ),
        **changes,
    )


def made(seed: int, *, dataset: str = "B1_tiny", length: int = 12) -> Document:
    return document(length, (4, length), seed=seed, dataset=dataset)


def write(folder: Path, layout: Layout, documents: list[Document]) -> str:
    writer = ShardWriter(folder, layout, shard_bytes=1 << 12)
    for one in documents:
        writer.add(one)
    writer.flush()
    return str(folder)


def config(target: Path, *hidden: str, **changes: Any) -> TrainConfig:
    return replace(TrainConfig(project="p", target=str(target), checkpoints="c", hidden=hidden), **changes)


def test_two_folders_are_one_source_and_a_document_in_both_counts_once(tmp_path: Path, target: Path) -> None:
    first = write(tmp_path / "a", layout(target), [made(seed) for seed in range(6)])
    second = write(tmp_path / "b", layout(target), [made(seed) for seed in range(4, 9)])
    source = open_source(config(target, first, second), CPU)
    assert [entry.name for entry in source.documents] == [f"prompt-{seed}" for seed in range(9)]
    loaded = source.load([8, 0, 5, 7])
    assert [one.name for one in loaded] == ["prompt-8", "prompt-0", "prompt-5", "prompt-7"]
    assert torch.equal(loaded[0].features, made(8).features.float())
    ids, mask = source.ids_and_mask(8)
    assert torch.equal(ids, made(8).token_ids)
    assert torch.equal(mask, made(8).loss_mask)


def test_inputs_name_each_folder_and_change_with_its_shards(tmp_path: Path, target: Path) -> None:
    first = write(tmp_path / "a", layout(target), [made(1)])
    second = write(tmp_path / "b", layout(target), [made(2)])
    before = open_source(config(target, first, second), CPU).inputs()
    assert sorted(before) == [f"{tmp_path.name}/a", f"{tmp_path.name}/b"]
    write(tmp_path / "b", layout(target), [made(3)])
    after = open_source(config(target, first, second), CPU).inputs()
    assert [before[name] == after[name] for name in sorted(before)] == [True, False]


def test_chosen_datasets_and_lengths_alone_are_there(tmp_path: Path, target: Path) -> None:
    documents = [made(1), made(2, dataset="B2_other"), made(3, length=40), made(4)]
    folder = write(tmp_path / "a", layout(target), documents)
    chosen = (AnswerSet(dataset="B1_tiny", revision="r"),)
    source = open_source(config(target, folder, datasets=chosen, max_length=39), CPU)
    assert [entry.name for entry in source.documents] == ["prompt-1", "prompt-4"]
    with pytest.raises(DataError, match="no document of B3 with at most 4,096 tokens"):
        open_source(config(target, folder, datasets=(AnswerSet(dataset="B3", revision="r"),)), CPU)


def test_states_of_another_target_or_of_other_layers_are_refused(tmp_path: Path, target: Path) -> None:
    good = write(tmp_path / "a", layout(target), [made(1)])
    foreign = write(tmp_path / "b", replace(layout(target), target="other@000000000000"), [made(1)])
    lower = write(tmp_path / "c", layout(target, feature_layers=FeatureLayers((1, 4, 6))), [made(1)])
    with pytest.raises(DataError, match="hidden states of other@000000000000; the target to train for is target@"):
        open_source(config(target, foreign), CPU)
    with pytest.raises(DataError, match=r"c: states of layers \[1, 4, 6\], post_norm; .*a holds layers \[2, 4, 6\]"):
        open_source(config(target, good, lower), CPU)


def test_answers_that_were_excluded_after_their_states_were_stored_are_left_out(tmp_path: Path, target: Path) -> None:
    folder = write(tmp_path / "a", layout(target), [made(seed) for seed in range(3)])
    unwanted = Exclusions.of({"B1_tiny": ["prompt-1"], "B2": ["prompt-2"]})
    source = open_source(config(target, folder, exclusions=unwanted), CPU)
    assert [entry.name for entry in source.documents] == ["prompt-0", "prompt-2"]
    assert source.excluded == 1
    assert [one.name for one in source.load([1])] == ["prompt-2"]
