import io
import tarfile
from pathlib import Path

import pytest

from eagle3web.domain.archives import Archive
from pipeline.errors import DataError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkpoint, with what must not leave it: training state, hidden files, links."""
    found = tmp_path / "step-000100"
    (found / "training").mkdir(parents=True)
    (found / "model.safetensors").write_bytes(b"w" * 3_000_000)
    (found / "config.json").write_text("{}")
    (found / "training" / "state.pt").write_text("secret")
    (found / ".hidden").write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "key").write_text("secret")
    (found / "link").symlink_to(tmp_path / "outside" / "key")
    (found / "folder").symlink_to(tmp_path / "outside")
    return found


def test_archive_holds_the_exported_files_and_nothing_else(folder: Path) -> None:
    archive = Archive.of(folder, name="k2-r7-step-100")
    data = b"".join(archive.chunks())
    assert len(data) == archive.size
    with tarfile.open(fileobj=io.BytesIO(data)) as opened:
        found = {member.name: (member.size, member.mode) for member in opened.getmembers()}
        content = opened.extractfile("k2-r7-step-100/config.json")
        assert content is not None
        assert content.read() == b"{}"
    assert found == {"k2-r7-step-100/config.json": (2, 0o644), "k2-r7-step-100/model.safetensors": (3_000_000, 0o644)}


async def test_archive_is_the_same_from_a_loop(folder: Path) -> None:
    archive = Archive.of(folder, name="x")
    assert b"".join([part async for part in archive.from_loop()]) == b"".join(archive.chunks())


def test_file_that_becomes_shorter_ends_the_download(folder: Path) -> None:
    archive = Archive.of(folder, name="x")
    (folder / "model.safetensors").write_bytes(b"w")
    with pytest.raises(DataError, match="became shorter"):
        b"".join(archive.chunks())


def test_a_file_that_becomes_a_link_while_it_is_sent_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file = tmp_path / "folder" / "model.safetensors"
    file.write_text("weights")
    (tmp_path / "key").write_text("secrets")
    archive = Archive.of(tmp_path / "folder", name="k2")
    file.unlink()
    file.symlink_to(tmp_path / "key")
    with pytest.raises(OSError, match="symbolic links"):
        list(archive.chunks())
