"""Folders that travel by a store: immutable, compared with their hashes, the same from a directory and from a bucket."""

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from eagle3web.system.processes import free_port
from pipeline.artifact_store import ArtifactStore
from pipeline.errors import ConfigError, DataError
from pipeline.fetched_files import FETCHED
from pipeline.folder_lock import FolderLock
from tests.support.servers import wait_until


def accepts(port: int) -> bool:
    with socket.socket() as trying:
        return trying.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="session")
def bucket() -> Iterator[str]:
    """A bucket of a local server that speaks S3; its address stands in the environment, as boto's clients read it."""
    port = free_port()
    before = dict(os.environ)
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.environ |= {
        "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    try:
        wait_until(lambda: accepts(port), "the bucket's server answers", 60)
        ArtifactStore("s3://eagle3/x")._files.mkdir("eagle3")
        yield "s3://eagle3/team"
    finally:
        process.kill()
        process.wait()
        os.environ.clear()
        os.environ |= before


@pytest.fixture(params=["folder", pytest.param("s3", marks=pytest.mark.slow)])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    if request.param == "folder":
        return ArtifactStore(str(tmp_path / "store"))
    return ArtifactStore(f"{request.getfixturevalue('bucket')}/{tmp_path.name}")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """What host a wrote."""
    folder = tmp_path / "a"
    (folder / "B1").mkdir(parents=True)
    (folder / "B1" / "part-00001.jsonl").write_text("one\n")
    (folder / "manifest.json").write_text("{}")
    (folder / ".part-00002.jsonl.tmp").write_text("unfinished")
    return folder


def test_another_host_reads_what_was_published(store: ArtifactStore, made: Path, tmp_path: Path) -> None:
    there = tmp_path / "b"
    assert not store.has("projects/kimi/responses")
    assert not store.fetch("projects/kimi/responses", there, host="b")
    assert set(store.publish(made, "projects/kimi/responses", host="a")) == {"B1/part-00001.jsonl", "manifest.json"}
    assert store.fetch("projects/kimi/responses", there, host="b")
    assert (there / "B1" / "part-00001.jsonl").read_text() == "one\n"
    assert sorted(path.name for path in there.rglob("[!.]*")) == ["B1", "manifest.json", "part-00001.jsonl"]


def test_newer_files_replace_older_ones_but_none_that_moved_here(store: ArtifactStore, made: Path, tmp_path: Path) -> None:
    there, part = tmp_path / "b", "B1/part-00001.jsonl"
    store.publish(made, "r", host="a")
    store.fetch("r", there, host="b")
    (there / part).write_text("one\ntwo\n")
    store.publish(there, "r", host="b")
    (there / part).write_text("one\ntwo\nthree\n")
    store.fetch("r", there, host="b")
    store.fetch("r", made, host="a")
    assert ((there / part).read_text(), (made / part).read_text()) == ("one\ntwo\nthree\n", "one\ntwo\n")


def test_what_a_killed_host_wrote_and_never_published_stays(made: Path, tmp_path: Path) -> None:
    store, there, part = ArtifactStore(str(tmp_path / "store")), tmp_path / "b", "B1/part-00001.jsonl"
    store.publish(made, "r", host="a")
    store.fetch("r", there, host="b")
    (there / part).write_text("one\nmine\n")
    store.fetch("r", there, host="b")
    assert (there / part).read_text() == "one\nmine\n"

    (made / part).write_text("one\nof another host\n")
    (made / "manifest.json").write_text("{1}")
    store.publish(made, "r", host="a")
    for exchange in (store.fetch, lambda name, folder, host: store.publish(folder, name, host=host)):
        with pytest.raises(DataError, match=rf"{part} was changed here \(9 bytes, .* by host a in the store \(20 bytes, "):
            exchange("r", there, host="b")
    assert [(there / name).read_text() for name in (part, "manifest.json")] == ["one\nmine\n", "{}"]

    (there / part).rename(there / "aside")
    store.fetch("r", there, host="b")
    assert [(there / name).read_text() for name in (part, "manifest.json")] == ["one\nof another host\n", "{1}"]


def test_publishing_keeps_what_came_from_other_hosts_meanwhile_and_drops_what_was_deleted(made: Path, tmp_path: Path) -> None:
    store, there = ArtifactStore(str(tmp_path / "store")), tmp_path / "b"
    store.publish(made, "r", host="a")
    store.fetch("r", there, host="b")
    (made / "B2").mkdir()
    (made / "B2" / "part-00001.jsonl").write_text("two\n")
    store.publish(made, "r", host="a")
    (there / "manifest.json").unlink()
    (there / "B3.jsonl").write_text("three\n")
    assert sorted(store.publish(there, "r", host="b")) == ["B1/part-00001.jsonl", "B2/part-00001.jsonl", "B3.jsonl"]


def test_publishing_keeps_what_another_host_publishes_while_the_bytes_travel(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url, there = str(tmp_path / "store"), tmp_path / "b"
    there.mkdir()
    (there / "B2.jsonl").write_text("two\n")
    store = ArtifactStore(url)
    put = store._files.put_file

    def meanwhile(source: str, target: str) -> None:
        put(source, target)
        if not source.endswith("B2.jsonl") and not store.has("r"):
            ArtifactStore(url).publish(there, "r", host="b")

    monkeypatch.setattr(store._files, "put_file", meanwhile)
    assert sorted(store.publish(made, "r", host="a")) == ["B1/part-00001.jsonl", "B2.jsonl", "manifest.json"]
    assert store.fetch("r", there, host="b")
    assert sorted(path.name for path in there.rglob("[!.]*") if path.is_file()) == [
        "B2.jsonl",
        "manifest.json",
        "part-00001.jsonl",
    ]


def test_folder_that_a_process_writes_to_is_left_alone_and_its_lock_never_travels(made: Path, tmp_path: Path) -> None:
    store, there, part = ArtifactStore(str(tmp_path / "store")), tmp_path / "b", "B1/part-00001.jsonl"
    FolderLock(made / "B1").release()
    assert "B1/lock" not in store.publish(made, "r", host="a")
    store.fetch("r", there, host="b")
    (made / part).write_text("one\ntwo\n")
    store.publish(made, "r", host="a")
    writing = FolderLock(there / "B1")
    store.fetch("r", there, host="b")
    assert (there / part).read_text() == "one\n"
    (there / "B3.jsonl").write_text("three\n")
    assert store.publish(there, "r", host="b")[part] == store.publish(made, "r", host="a")[part]
    writing.release()
    store.fetch("r", there, host="b")
    assert (there / part).read_text() == "one\ntwo\n"


def test_folder_of_before_there_was_a_record_keeps_what_this_host_published(made: Path, tmp_path: Path) -> None:
    store, part = ArtifactStore(str(tmp_path / "store")), "B1/part-00001.jsonl"
    store.publish(made, "r", host="a")
    (made / FETCHED).unlink()
    (made / part).write_text("one\ntwo\n")
    store.fetch("r", made, host="a")
    assert (made / part).read_text() == "one\ntwo\n"


def test_equal_files_are_kept_once(made: Path, tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    for name in ("first", "second"):
        store.publish(made, name, host="a")
    assert len([path for path in (tmp_path / "store" / "blobs").rglob("*") if path.is_file()]) == 2


def test_bytes_that_are_not_what_they_are_called_are_refused(made: Path, tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    store.publish(made, "r", host="a")
    for blob in (tmp_path / "store" / "blobs").rglob("*"):
        if blob.is_file():
            blob.write_text("rotten")
    with pytest.raises(DataError, match="the store has other bytes than it says"):
        store.fetch("r", tmp_path / "b", host="b")
    assert [path for path in (tmp_path / "b").rglob("[!.]*") if path.is_file()] == []


def test_half_a_blob_is_sent_again_and_sending_that_fails_leaves_none(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = tmp_path / "store"
    store = ArtifactStore(str(url))
    store.publish(made, "r", host="a")
    blobs = {path: path.read_bytes() for path in (url / "blobs").rglob("*") if path.is_file()}
    for path in blobs:
        path.write_bytes(b"")

    def broken(source: str, target: str) -> None:
        Path(target).write_bytes(Path(source).read_bytes()[:1])
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store._files, "put_file", broken)
        with pytest.raises(OSError, match="No space"):
            store.publish(made, "r", host="a")
    store.publish(made, "r", host="a")
    assert {path: path.read_bytes() for path in (url / "blobs").rglob("*") if path.is_file()} == blobs
    assert [path.name for path in url.rglob("*.tmp-*")] == []


def test_file_that_is_being_written_is_not_published(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    put = store._files.put_file

    def meanwhile(source: str, target: str) -> None:
        with Path(source).open("a") as file:
            file.write("two\n")
        put(source, target)

    monkeypatch.setattr(store._files, "put_file", meanwhile)
    with pytest.raises(DataError, match=r"part-00001\.jsonl is being written"):
        store.publish(made, "r", host="a")
    assert not store.has("r")
    assert [path for path in (tmp_path / "store").rglob("*") if path.is_file()] == []


def test_paths_that_lead_out_are_refused(made: Path, tmp_path: Path) -> None:
    store = ArtifactStore(str(tmp_path / "store"))
    store.publish(made, "r", host="a")
    tree = tmp_path / "store" / "trees" / "r.json"
    tree.write_text(tree.read_text().replace("manifest.json", "../../evil"))
    with pytest.raises(DataError, match="leads out of its folder"):
        store.fetch("r", tmp_path / "b", host="b")


def test_unknown_kind_of_address_is_told() -> None:
    with pytest.raises(ConfigError, match="EAGLE3_ARTIFACTS: nonsense://x cannot be reached"):
        ArtifactStore("nonsense://x")


@pytest.mark.slow
def test_bucket_without_credentials_is_told_in_one_sentence(
    bucket: str, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    fsspec.filesystem("s3").clear_instance_cache()
    with pytest.raises(DataError, match="EAGLE3_ARTIFACTS: the store cannot be used: Unable to locate credentials"):
        ArtifactStore(bucket).publish(made, "r", host="a")
    fsspec.filesystem("s3").clear_instance_cache()
