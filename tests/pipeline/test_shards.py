import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pipeline.batching import Document
from pipeline.errors import DataError
from pipeline.feature_layers import FeatureLayers
from pipeline.shard_layout import Layout
from pipeline.shards import ShardReader, ShardWriter, list_documents
from tests.support.tiny_drafter import document

LAYOUT = Layout(
    target="tiny",
    hidden_size=24,
    vocab_size=50,
    feature_layers=FeatureLayers((2, 4, 6)),
    last_hidden="post_norm",
    dtype="float32",
)
SHARD_BYTES = 40 * LAYOUT.bytes_per_token


def made(index: int, *, argmax: bool = True) -> Document:
    plain = document(10 + index, (4, 10 + index), seed=index)
    best = torch.arange(len(plain.token_ids)) if argmax else None
    return replace(plain, features=plain.features.float(), last_hidden=plain.last_hidden.float(), argmax=best)


def written(folder: Path, count: int = 9) -> list[Document]:
    documents = [made(index) for index in range(count)]
    writer = ShardWriter(folder, LAYOUT, shard_bytes=SHARD_BYTES)
    for one in documents:
        writer.add(one)
    writer.finish(inputs={"responses": "abc"})
    return documents


def assert_same(found: Document, expected: Document) -> None:
    assert (found.dataset, found.name) == (expected.dataset, expected.name)
    for name in ("token_ids", "loss_mask", "features", "last_hidden", "argmax"):
        assert torch.equal(getattr(found, name), getattr(expected, name)), name


def test_documents_come_back_as_they_were(tmp_path: Path) -> None:
    documents = written(tmp_path)
    reader = ShardReader(tmp_path)
    assert len(reader) == 9
    for index in (0, 8, 3):
        assert_same(reader[index], documents[index])
    assert len(list(tmp_path.glob("shard-*.safetensors"))) == 3


def test_documents_are_listed_with_lengths_without_reading_states(tmp_path: Path) -> None:
    documents = written(tmp_path)
    stored = list_documents(tmp_path)
    assert [d.tokens for d in stored] == [len(d.token_ids) for d in documents]
    assert [d.supervised for d in stored] == [int(d.loss_mask.sum()) for d in documents]


def test_states_are_stored_in_the_layouts_dtype(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, replace(LAYOUT, dtype="bfloat16"))
    writer.add(made(1))
    writer.finish(inputs={})
    assert ShardReader(tmp_path)[0].features.dtype == torch.bfloat16


def test_manifest_holds_totals_inputs_and_both_conventions(tmp_path: Path) -> None:
    documents = written(tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["feature_layers"] == {"hidden_states": [2, 4, 6], "sglang": [1, 3, 5]}
    assert manifest["last_hidden"] == "post_norm"
    assert manifest["documents"] == 9
    assert manifest["tokens"] == sum(len(d.token_ids) for d in documents)
    assert manifest["inputs"] == {"responses": "abc"}
    assert set(manifest["shards"]) == {"shard-00000", "shard-00001", "shard-00002"}


def test_forecast_of_bytes_is_what_is_written(tmp_path: Path) -> None:
    documents = written(tmp_path)
    states = LAYOUT.bytes_per_token * sum(len(d.token_ids) for d in documents)
    size = sum(path.stat().st_size for path in tmp_path.glob("shard-*.safetensors"))
    assert states < size < states + 3 * 1000
    assert replace(LAYOUT, hidden_size=7168, dtype="bfloat16").bytes_per_token == 4 * 7168 * 2 + 9


def test_resume_skips_what_is_safe_and_ends_like_one_run(tmp_path: Path) -> None:
    documents = written(tmp_path / "whole")
    first = ShardWriter(tmp_path / "parts", LAYOUT, shard_bytes=SHARD_BYTES)
    for one in documents[:5]:
        first.add(one)
    # The process dies here: what was pending is gone, and a half-written shard may lie about.
    (tmp_path / "parts" / "shard-00001.safetensors").write_bytes(b"half")
    second = ShardWriter(tmp_path / "parts", LAYOUT, shard_bytes=SHARD_BYTES)
    assert len(second.done) == 4
    for one in documents:
        if (one.dataset, one.name) not in second.done:
            second.add(one)
    second.finish(inputs={})
    reader = ShardReader(tmp_path / "parts")
    assert sorted(d.name for d in reader.documents) == sorted(d.name for d in documents)
    by_name = {d.name: d for d in documents}
    for index, stored in enumerate(reader.documents):
        assert_same(reader[index], by_name[stored.name])


def test_adding_to_a_finished_folder_makes_it_unfinished(tmp_path: Path) -> None:
    written(tmp_path)
    writer = ShardWriter(tmp_path, LAYOUT)
    writer.add(made(20))
    writer.flush()
    assert not (tmp_path / "manifest.json").exists()
    assert writer.finish(inputs={})["documents"] == 10


def test_truncated_shard_is_named(tmp_path: Path) -> None:
    written(tmp_path)
    shard = tmp_path / "shard-00001.safetensors"
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(DataError, match=r"shard-00001\.safetensors: truncated"):
        ShardReader(tmp_path)
    with pytest.raises(DataError, match=r"shard-00001\.safetensors: truncated"):
        ShardWriter(tmp_path, LAYOUT)


def test_shard_index_that_the_manifest_names_and_nobody_finds_is_named(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "shard-00001.json").unlink()
    with pytest.raises(DataError, match=r"shard-00001\.json: missing, and manifest\.json names this shard"):
        ShardReader(tmp_path)


def test_folder_of_another_layout_is_refused(tmp_path: Path) -> None:
    written(tmp_path)
    with pytest.raises(DataError, match="another layout"):
        ShardWriter(tmp_path, replace(LAYOUT, last_hidden="pre_norm"))


def test_folder_without_states_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no hidden states here"):
        ShardReader(tmp_path)


def test_not_finite_states_are_refused_by_name_and_the_rest_is_kept(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, replace(LAYOUT, dtype="float16"))
    writer.add(made(1))
    broken, huge = made(2), made(3)
    broken.features[6, 3] = float("nan")
    huge.last_hidden[2] = 1e9
    with pytest.raises(DataError, match="B1_tiny/prompt-2: features are NaN or infinite as float16, first at position 6"):
        writer.add(broken)
    with pytest.raises(DataError, match=r"B1_tiny/prompt-3: last_hidden .* position 2"):
        writer.add(huge)
    writer.finish(inputs={})
    assert [d.name for d in list_documents(tmp_path)] == ["prompt-1"]


def test_states_of_another_width_and_foreign_ids_are_refused(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, LAYOUT)
    with pytest.raises(DataError, match="prompt-1: states are 71 and 24 wide, the layout says 72 and 24"):
        writer.add(replace(made(1), features=torch.zeros(11, 71)))
    with pytest.raises(DataError, match="outside the vocabulary of 50"):
        writer.add(replace(made(1), token_ids=torch.full((11,), 50)))


def test_argmax_is_optional(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, LAYOUT)
    writer.add(made(1))
    writer.add(made(2, argmax=False))
    writer.finish(inputs={})
    assert ShardReader(tmp_path)[0].argmax is None


def test_documents_are_loaded_in_the_order_asked_for_across_shards(tmp_path: Path) -> None:
    documents = written(tmp_path)
    order = [8, 0, 4, 3, 8]
    for found, index in zip(ShardReader(tmp_path).load(order), order, strict=True):
        assert_same(found, documents[index])


def test_ids_and_mask_come_without_states(tmp_path: Path) -> None:
    documents = written(tmp_path)
    ids, mask = ShardReader(tmp_path).ids_and_mask(7)
    assert ids.dtype == torch.int64
    assert torch.equal(ids, documents[7].token_ids)
    assert torch.equal(mask, documents[7].loss_mask)


def test_inputs_are_the_same_before_and_after_the_manifest_is_written(tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, LAYOUT)
    writer.add(made(1))
    writer.flush()
    before = ShardReader(tmp_path).inputs()
    writer.finish(inputs={})
    assert ShardReader(tmp_path).inputs() == before
