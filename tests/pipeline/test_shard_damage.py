"""What a crash left of shards is put aside, and only that."""

from pathlib import Path

import pytest

from pipeline.shard_damage import set_damaged_aside
from pipeline.shards import ShardReader, ShardWriter, list_documents
from tests.pipeline.test_shards import LAYOUT, SHARD_BYTES, assert_same, made, written


@pytest.fixture
def hidden(tmp_path: Path) -> Path:
    """Three shards of nine documents, finished."""
    written(tmp_path)
    return tmp_path


def write_again(folder: Path) -> None:
    """What an extraction does when it is resumed: the documents that are missing."""
    writer = ShardWriter(folder, LAYOUT, shard_bytes=SHARD_BYTES)
    for index in range(9):
        document = made(index)
        if (document.dataset, document.name) not in writer.done:
            writer.add(document)
    writer.finish(inputs={})
    reader = ShardReader(folder)
    found = {document.name: document for document in reader.load(range(len(reader)))}
    assert sorted(found) == sorted(made(index).name for index in range(9))
    for index in range(9):
        assert_same(found[made(index).name], made(index))


def test_whole_shards_stay(hidden: Path) -> None:
    before = {path.name: path.read_bytes() for path in hidden.iterdir()}
    assert set_damaged_aside(hidden) == []
    assert {path.name: path.read_bytes() for path in hidden.iterdir()} == before
    assert set_damaged_aside(hidden / "nothing here") == []


@pytest.mark.parametrize("what", ["shard-00001.safetensors", "shard-00001.json"])
def test_a_damaged_shard_is_written_again(hidden: Path, what: str) -> None:
    path = hidden / what
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    told = set_damaged_aside(hidden)
    assert len(told) == 1
    assert str(path) in told[0]
    assert (hidden / "damaged-shard-00001.safetensors").exists()
    assert not (hidden / "manifest.json").exists()
    assert 0 < len(list_documents(hidden)) < 9
    write_again(hidden)


def test_states_without_a_file_are_written_again(hidden: Path) -> None:
    (hidden / "shard-00002.safetensors").unlink()
    assert "0 bytes instead of" in set_damaged_aside(hidden)[0]
    write_again(hidden)


def test_an_index_that_the_manifest_names_and_that_is_gone_is_no_end(hidden: Path) -> None:
    (hidden / "shard-00000.json").unlink()
    assert set_damaged_aside(hidden) == [f"{hidden}/manifest.json: names 1 shards that are missing; they are extracted again"]
    write_again(hidden)


def test_a_damaged_manifest_is_written_again(hidden: Path) -> None:
    (hidden / "manifest.json").write_bytes(b'{"shards": ')
    assert set_damaged_aside(hidden)[0].endswith("; it is written again")
    assert len(list_documents(hidden)) == 9
    write_again(hidden)


@pytest.mark.parametrize("content", [b"", b"[]", b'{"format": 1}', b'\0{"format": 1}'])
def test_without_a_layout_nothing_is_known_and_all_is_written_again(hidden: Path, content: bytes) -> None:
    (hidden / "layout.json").write_bytes(content)
    assert set_damaged_aside(hidden)[0].endswith("what 6 files hold is not known any more: all is extracted again")
    assert list_documents(hidden) == []
    write_again(hidden)


def test_a_second_damage_of_one_shard_keeps_what_is_left_of_both(hidden: Path) -> None:
    for _ in range(2):
        (hidden / "shard-00001.json").write_bytes(b"")
        (hidden / "shard-00001.safetensors").touch()
        set_damaged_aside(hidden)
    assert len(list(hidden.glob("damaged-*shard-00001.json"))) == 2
    write_again(hidden)
