"""Lines of events.jsonl, as the database takes them."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from eagle3web.domain import event_lines
from pipeline.event import Event
from pipeline.events import EventWriter, Line, SampleLogged, StageFailed, StageFinished, UnknownEvent, Warned

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def emit(path: Path, *events: Event) -> None:
    with closing(EventWriter(path)) as writer:
        for event in events:
            writer.emit(event)


def line(kind: str, **payload: object) -> Line:
    return Line(seq=1, t=NOW, kind=kind, payload=payload)


def test_read_batch_takes_finished_lines_only(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert event_lines.read_batch(path, offset=0).end == 0
    emit(path, Warned(text="one"))
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"seq":2,"t":"2026')
    batch = event_lines.read_batch(path, offset=0)
    assert ([found.seq for found in batch.lines], batch.end) == ([1], size)


def test_read_batch_skips_a_broken_line_and_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "events.jsonl"
    path.write_bytes(b'{"seq":1,"t"\n[]\n{"seq":"x","t":"2026-11-30T00:00:00Z","kind":"warning"}\n')
    emit(path, Warned(text="good"))
    batch = event_lines.read_batch(path, offset=0)
    assert [found.payload["text"] for found in batch.lines] == ["good"]
    assert batch.end == path.stat().st_size
    assert caplog.text.count("is no event") == 3


def test_read_batch_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    emit(path, *(Warned(text=str(number)) for number in range(event_lines.BATCH_LINES + 5)))
    first = event_lines.read_batch(path, offset=0)
    second = event_lines.read_batch(path, offset=first.end)
    assert (len(first.lines), len(second.lines)) == (event_lines.BATCH_LINES, 5)


def test_typed_keeps_what_it_does_not_know_raw() -> None:
    assert event_lines.typed(line("warning", text="hot")) == Warned(text="hot")
    for odd in (line("moon_phase", phase=3), line("warning", text=3), line("warning"), line("warning", text="a", more=1)):
        assert event_lines.typed(odd) == UnknownEvent(name=odd.kind, payload=odd.payload)


def test_clean_replaces_what_a_database_refuses() -> None:
    dirty = {"a\0": ["x\0y", "half \ud83d", 3, None, True, float("inf")], "b": {"c": "€"}}
    assert event_lines.clean(dirty) == {"a␀": ["x␀y", "half ?", 3, None, True, None], "b": {"c": "€"}}


def test_last_word_is_the_stages_own_and_not_quoted(tmp_path: Path) -> None:
    path = tmp_path / "events.jsonl"
    assert event_lines.last_word(path) is None
    quoting = SampleLogged(
        dataset="B1", prompt_id="1", prompt='"kind":"stage_finished"', answer="", completion_tokens=1, finish_reason="stop",
        engine="e", latency_s=0.1,
    )  # fmt: skip
    emit(path, quoting)
    assert event_lines.last_word(path) is None
    emit(path, StageFailed(reason="boom"))
    assert event_lines.last_word(path) == StageFailed(reason="boom")
    emit(path, StageFinished(summary={"n": 1}))
    assert event_lines.last_word(path) == StageFinished(summary={"n": 1})
