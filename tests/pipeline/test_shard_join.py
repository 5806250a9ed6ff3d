"""Two workers' shares, joined, are what one worker leaves."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pipeline.artifacts import read_json, write_json
from pipeline.batching import Document
from pipeline.errors import DataError
from pipeline.extraction.config import ExtractConfig
from pipeline.shard_join import join_shares
from pipeline.shards import ShardReader
from tests.support.extraction import extract_config, random_answer, store_answers, tiny_target
from tests.support.stages import run_extraction


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`hidden` of one worker, and `one` and `two` of two that share."""
    root = tmp_path_factory.mktemp("shares")
    tiny_target(root)
    store_answers(root, [random_answer(n) for n in range(12)])
    alone: ExtractConfig = extract_config(root, shard_bytes=1 << 16)
    run_extraction(root, alone)
    for part, name in enumerate(("one", "two"), start=1):
        run_extraction(root, replace(alone, hidden=str(root / name), part=part, parts=2))
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


def test_joined_shares_hold_what_one_worker_would(root: Path) -> None:
    placed: list[Path] = []
    manifest = join_shares([root / "two", root / "one"], root / "joined", on_shard=placed.append)
    alone = read_json(root / "hidden" / "manifest.json")
    for name in ("inputs", "documents", "tokens", "supervised", "agreed", "feature_layers", "target"):
        assert manifest[name] == alone[name], name
    assert "share" not in manifest
    assert sorted(path.name for path in placed) == [f"{name}.safetensors" for name in manifest["shards"]]
    mine = {document.name: document for document in _documents(root / "joined")}
    for document in _documents(root / "hidden"):
        assert torch.equal(mine[document.name].features, document.features)


def _documents(folder: Path) -> list[Document]:
    reader = ShardReader(folder)
    return reader.load(range(len(reader)))


def test_shares_are_disjoint_and_say_which_they_are(root: Path) -> None:
    one, two = (read_json(root / name / "manifest.json") for name in ("one", "two"))
    assert (one["share"], two["share"]) == ({"part": 1, "parts": 2}, {"part": 2, "parts": 2})
    assert one["documents"] + two["documents"] == 12
    assert min(one["documents"], two["documents"]) > 0


def test_missing_doubled_and_foreign_shares_are_named(root: Path) -> None:
    with pytest.raises(DataError, match=r"not all shares of one extraction, each once: .*one is 1 of 2$"):
        join_shares([root / "one"], root / "joined")
    shutil.copytree(root / "one", root / "again")
    with pytest.raises(DataError, match=r"again: holds B1/.*, and so does .*one"):
        join_shares([root / "one", root / "again"], root / "joined")
    changed = read_json(root / "two" / "manifest.json")
    changed["inputs"]["responses/B1"] = "0" * 64
    write_json(root / "two" / "manifest.json", changed)
    with pytest.raises(DataError, match="two: was made from other responses/B1 than"):
        join_shares([root / "one", root / "two"], root / "joined")
    assert not (root / "joined").exists()


def test_damaged_and_unfinished_shares_are_refused(root: Path) -> None:
    shard = next((root / "two").glob("*.safetensors"))
    body = bytearray(shard.read_bytes())
    body[-1] ^= 1
    shard.write_bytes(body)
    with pytest.raises(DataError, match=f"{shard.name}: its content is not what its manifest says"):
        join_shares([root / "one", root / "two"], root / "joined")
    assert not (root / "joined" / "manifest.json").exists()
    (root / "one" / "manifest.json").unlink()
    with pytest.raises(DataError, match="one: this extraction is not finished"):
        join_shares([root / "one", root / "two"], root / "other")
    with pytest.raises(DataError, match="is not empty"):
        join_shares([root / "hidden"], root / "joined")


def test_folder_of_one_share_takes_no_other(root: Path) -> None:
    config = extract_config(root, hidden=str(root / "one"), part=2, parts=2)
    lines = run_extraction(root, config, code=1)
    assert "holds states of other answers than those of part 2 of 2" in lines[-1].payload["reason"]
