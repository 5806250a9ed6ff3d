"""Prompts and files of prompts for tests."""

import json
from pathlib import Path
from typing import Any

from pipeline.datasets.conversation import Conversation, new_conversation
from pipeline.datasets.reading import read_conversations
from pipeline.datasets.report import ValidationReport

CASES = Path(__file__).parent.parent / "cases"


def chat(*texts: str, label: str = "", **fields: Any) -> Conversation:
    """A conversation whose turns are the user's and the assistant's in turn."""
    roles = ("user", "assistant")
    return new_conversation(
        label=label, messages=tuple({"role": roles[i % 2], "content": text} for i, text in enumerate(texts)), **fields
    )


def write_lines(path: Path, *rows: Any) -> Path:
    """A JSON Lines file; a row of bytes or text is written as it is."""
    raw = b""
    for row in rows:
        text = row if isinstance(row, (str, bytes)) else json.dumps(row)
        raw += (text.encode() if isinstance(text, str) else text) + b"\n"
    path.write_bytes(raw)
    return path


def read(path: Path, **options: Any) -> tuple[list[Conversation], ValidationReport]:
    """All prompts of a file and its report."""
    report = ValidationReport()
    return list(read_conversations(path, report, **options)), report
