"""The event file: numbered lines without gaps, whole or not there."""

from collections import deque
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline import events
from pipeline.events import EventWriter, StageFailed, UnknownEvent, Warned, parse, read_events
from tests.support.disks import small_disk

NOW = datetime(2026, 11, 30, 11, 24, 13, 512345, tzinfo=UTC)


def test_encode_is_one_ascii_line_that_parse_reads_back() -> None:
    warned = Warned(text="line\nbreak \u2028 € <b>", dataset="B1")
    line = events.encode(warned, seq=7, now=NOW)
    assert line.count(b"\n") == 1
    assert line.isascii()
    found = parse(line)
    assert (found.seq, found.t, found.kind, found.event) == (7, NOW, "warning", warned)


@pytest.mark.parametrize(
    "line", ["[]", "{}", '{"seq":1}', "not json", '{"seq":"x","t":"2026-11-30T00:00:00Z","kind":"warning"}']
)
def test_parse_refuses_what_is_no_event(line: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  (any text will do)
        parse(line)


def test_event_of_an_unknown_kind_or_with_unknown_fields_is_kept_raw() -> None:
    for body in ('"kind":"moon"', '"kind":"warning","phase":3', '"kind":"stage_failed"'):
        line = parse(f'{{"seq":1,"t":"2026-11-30T00:00:00Z",{body}}}')
        assert line.event == UnknownEvent(name=line.kind, payload=line.payload)


def test_emit_numbers_lines_without_gaps(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    with closing(EventWriter(path)) as writer:
        assert [writer.emit(Warned(text=str(n))) for n in range(3)] == [1, 2, 3]
    assert [line.seq for line, _ in read_events(path)] == [1, 2, 3]


def test_read_events_leaves_a_torn_last_line_and_goes_on_from_an_offset(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert list(read_events(path)) == []
    with closing(EventWriter(path)) as writer:
        writer.emit(Warned(text="one"))
        [(_, offset)] = read_events(path)
        writer.emit(Warned(text="two"))
    with path.open("ab") as file:
        file.write(b'{"seq":3,')
    assert [line.payload["text"] for line, _ in read_events(path, offset=offset)] == ["two"]


def test_emit_on_a_full_disk_leaves_whole_lines_and_no_gap(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        path = disk.path / "events.jsonl"
        with closing(EventWriter(path)) as writer:
            with pytest.raises(OSError, match=r"space|large"):
                deque(iter(lambda: writer.emit(Warned(text="x" * 10_000)), None), maxlen=0)
            written = len(path.read_bytes().splitlines())
            disk.free()
            assert writer.emit(StageFailed(reason="disk full")) == written + 1
        assert [line.seq for line, _ in read_events(path)] == list(range(1, written + 2))
        assert path.read_bytes().endswith(b"\n")
