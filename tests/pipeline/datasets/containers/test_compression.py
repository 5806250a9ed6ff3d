import gzip
import random
from pathlib import Path

import pytest
import zstandard

from pipeline.datasets.containers import compression
from pipeline.datasets.containers.compression import DamagedFileError, open_plain

TEXT = b"".join(b"%d %d\n" % (i, random.Random(i).getrandbits(64)) for i in range(20_000))


def packed(kind: str, content: bytes = TEXT) -> bytes:
    if kind == "gzip":
        return gzip.compress(content)
    return zstandard.ZstdCompressor(write_checksum=True).compress(content) if kind == "zstd" else content


@pytest.mark.parametrize("kind", ["plain", "gzip", "zstd"])
def test_content_is_recognised_whatever_the_name(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "named.txt"
    path.write_bytes(packed(kind))
    with open_plain(path) as stream:
        assert stream.read() == TEXT


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_members_one_after_another_are_one_content(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "joined"
    path.write_bytes(packed(kind) + packed(kind, b"more\n"))
    with open_plain(path) as stream:
        assert stream.read() == TEXT + b"more\n"


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_cut_file_gives_what_it_has_and_then_an_error(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "cut"
    whole = packed(kind)
    path.write_bytes(whole[: len(whole) * 2 // 3])
    lines: list[bytes] = []
    with open_plain(path) as stream, pytest.raises(DamagedFileError, match="cut or damaged"):
        lines.extend(stream)
    assert lines
    assert lines == TEXT.splitlines(keepends=True)[: len(lines)]


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_damage_is_an_error_of_one_kind(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "damaged"
    whole = bytearray(packed(kind))
    whole[len(whole) // 2] ^= 0xFF
    path.write_bytes(whole)
    with open_plain(path) as stream, pytest.raises(DamagedFileError):
        stream.read()


@pytest.mark.slow
def test_a_bomb_is_unpacked_a_little_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "bomb"
    path.write_bytes(zstandard.ZstdCompressor(level=19).compress(bytes(1 << 28)))
    assert path.stat().st_size < 100_000
    with open_plain(path) as stream:
        assert stream.read(10) == bytes(10)


@pytest.mark.parametrize("kind", ["plain", "gzip", "zstd"])
def test_progress_ends_at_the_size_of_the_file_on_disk(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(packed(kind))
    seen: list[tuple[int, int]] = []
    with open_plain(path, lambda done, total: seen.append((done, total))) as stream:
        while stream.read(1 << 16):
            pass
    size = path.stat().st_size
    assert seen[-1] == (size, size)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_a_bomb_ends_with_an_error_that_says_the_limit(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "EXPANDED_ANYWAY", 1 << 20)
    path = tmp_path / "bomb"
    path.write_bytes(packed(kind, bytes(1 << 26)))
    assert path.stat().st_size < 1 << 17
    limit = compression.expanded_limit(path.stat().st_size)
    read: list[int] = []
    with open_plain(path) as stream, pytest.raises(DamagedFileError, match=f"unpacks to more than {limit:,} bytes"):
        read.extend(len(piece) for piece in iter(lambda: stream.read1(1 << 16), b""))
    assert sum(read) <= limit


@pytest.mark.parametrize("kind", ["gzip", "zstd"])
def test_text_that_packs_well_is_no_bomb(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "EXPANDED_ANYWAY", 1 << 10)
    content = b"".join(b'{"prompt": "What is %d times seven?"}\n' % n for n in range(20_000))
    path = tmp_path / "prompts"
    path.write_bytes(packed(kind, content))
    with open_plain(path) as stream:
        assert stream.read() == content


def test_no_file_may_unpack_to_more_than_the_most() -> None:
    assert compression.expanded_limit(1) == 1 << 30
    assert compression.expanded_limit(10**8) == 2 * 10**10
    assert compression.expanded_limit(10**12) == 64 << 30
