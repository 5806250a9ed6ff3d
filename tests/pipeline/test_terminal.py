import os
import pty
import sys
from pathlib import Path

import pytest

from pipeline.event import Event
from pipeline.events import StatusChanged, Warned
from pipeline.terminal import LINE_EVERY_S, shown


def describe(event: Event) -> tuple[int, str] | None:
    return (30, event.text) if isinstance(event, Warned) else None


def progress(event: Event) -> str:
    return event.text if isinstance(event, StatusChanged) else ""


def read_to_end(descriptor: int) -> str:
    output = b""
    try:
        while chunk := os.read(descriptor, 65536):
            output += chunk
    except OSError:
        pass  # a terminal whose other side has closed
    finally:
        os.close(descriptor)
    return output.decode()


def test_log_gets_a_line_for_an_event_and_progress_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    with shown(describe, progress) as view:
        view(StatusChanged(text="1 of 9"))
        view(Warned(text="odd \x1b[31mtext"))
        view(StatusChanged(text="2 of 9"))
    lines = [line.split(" ", 1)[1] for line in capsys.readouterr().err.splitlines()]
    assert lines == ["INFO 1 of 9", "WARNING odd \\x1b[31mtext"]
    assert LINE_EVERY_S > 1


def test_terminal_keeps_progress_below_what_scrolls_by(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    with os.fdopen(theirs, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with shown(describe, progress) as view:
            view(StatusChanged(text="1 of 9"))
            view(Warned(text="careful"))
            view(StatusChanged(text="2 of 9"))
    output = read_to_end(ours)
    assert output.index("1 of 9") < output.index("WARNING careful") < output.index("2 of 9")
