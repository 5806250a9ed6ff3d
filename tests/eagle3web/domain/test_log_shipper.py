"""The log in the database is the log on disk, byte for byte."""

from pathlib import Path

import pytest

from eagle3web.domain.log_shipper import CHUNK, PATIENCE_S, LogShipper, cut
from eagle3web.models import Attempt, LogChunk
from eagle3web.queries.log import LogReader, last_line
from tests.support import factories
from tests.support.servers import wait_until


@pytest.mark.parametrize(
    ("data", "whole_lines", "size"),
    [
        (b"", True, 0),
        (b"one\ntwo\nthr", True, 8),
        (b"one\ntwo\nthr", False, 8),
        (b"no end", True, 0),
        (b"no end", False, 6),
        ("né".encode()[:-1], False, 1),
        ("né".encode(), False, 3),
        ("n€".encode()[:-1], False, 1),
        ("n🙂".encode()[:-1], False, 1),
        ("n🙂".encode()[:-3], False, 1),
        ("n🙂".encode(), False, 5),
        (b"n\xff", False, 2),
        (b"\x80\x80\x80\x80", False, 4),
    ],
)
def test_cut_keeps_lines_and_characters_whole(data: bytes, whole_lines: bool, size: int) -> None:
    assert cut(data, whole_lines=whole_lines) == size


@pytest.fixture
def attempt(tmp_path: Path, db: None) -> Attempt:
    return factories.attempt(folder=str(tmp_path))


def write(attempt: Attempt, data: bytes) -> None:
    with (Path(attempt.folder) / "log.txt").open("ab") as file:
        file.write(data)


def stored() -> list[bytes]:
    return [bytes(chunk.data) for chunk in LogChunk.objects.all()]


def test_ship_stores_finished_lines_at_once(attempt: Attempt) -> None:
    shipper = LogShipper(attempt)
    assert not shipper.ship()
    write(attempt, b"one\ntwo\nthr")
    assert shipper.ship()
    assert not shipper.ship()
    write(attempt, b"ee\n")
    assert shipper.ship()
    assert stored() == [b"one\ntwo\n", b"three\n"]
    assert [chunk.first_line for chunk in LogChunk.objects.all()] == [1, 3]
    attempt.refresh_from_db()
    assert (attempt.log_bytes, attempt.log_lines) == (14, 3)


def test_ship_does_not_wait_for_the_end_of_a_line_for_ever(attempt: Attempt) -> None:
    shipper = LogShipper(attempt)
    write(attempt, b"Loading\xe2\x82")
    wait_until(shipper.ship, "the unfinished line is shipped", 10 * PATIENCE_S)
    assert stored() == [b"Loading"]


def test_ship_of_an_ended_log_leaves_nothing_behind(attempt: Attempt) -> None:
    write(attempt, b"one\ntwo \xe2\x82")
    shipper = LogShipper(attempt)
    while shipper.ship(ended=True):
        pass
    assert b"".join(stored()) == b"one\ntwo \xe2\x82"


def test_ship_goes_on_where_the_database_stands(attempt: Attempt) -> None:
    write(attempt, b"one\n")
    LogShipper(attempt).ship()
    write(attempt, b"two\n")
    LogShipper(attempt).ship()
    assert stored() == [b"one\n", b"two\n"]


def test_ship_never_stores_a_piece_twice(attempt: Attempt) -> None:
    first, second = LogShipper(attempt), LogShipper(attempt)
    write(attempt, b"one\n")
    first.ship()
    second.ship()
    assert stored() == [b"one\n"]
    write(attempt, b"two\n")
    assert second.ship()
    assert stored() == [b"one\n", b"two\n"]


def test_ship_takes_long_lines_in_pieces_that_read_as_one(attempt: Attempt) -> None:
    lines = ["first", "x" * 1_000_000, "€" * 200_000, "last"]
    write(attempt, "\n".join(lines).encode() + b"\n")
    shipper = LogShipper(attempt)
    while shipper.ship():
        assert all(len(piece) <= CHUNK for piece in stored())
        assert last_line(attempt.pk) == b"".join(stored()).count(b"\n")
    assert b"".join(stored()).decode().splitlines() == lines
    for piece in stored():
        piece.decode()
    assert last_line(attempt.pk) == 4
    assert [number for number, _ in LogReader(attempt.pk).read()] == [1, 2, 3, 4]
    assert LogReader.after_line(attempt.pk, 3).read()[-1] == (4, ("last", 0))
