"""Answers as `conversations` JSONL, which SpecForge and speculators read."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.artifacts import naming_full_disks
from pipeline.responses.reading import iter_records
from pipeline.responses.record import Response


@dataclass(kw_only=True)
class Exported:
    written: int = 0
    truncated: int = 0
    """Left out: an answer that was cut has no end to learn."""
    without_messages: int = 0
    """Left out: the prompt came as token ids."""


def export_conversations(folder: Path, out: Path, *, include_truncated: bool = False) -> Exported:
    """Write a line a conversation, `{"id", "conversations": [{"role", "content", …}], "tools"?}`, and count what was left out.

    `folder` is one dataset's; `out` appears when it is complete. Raises DataError and DiskFullError.
    """
    exported = Exported()
    partial = out.with_name(f".{out.name}.{os.getpid()}")
    try:
        with naming_full_disks(out.name, out.parent), partial.open("wb") as file:
            for response in iter_records(folder):
                if not response.messages:
                    exported.without_messages += 1
                elif response.finish_reason != "stop" and not include_truncated:
                    exported.truncated += 1
                else:
                    file.write(json.dumps(_row(response)).encode() + b"\n")
                    exported.written += 1
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    return exported


def _row(response: Response) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": response.id or response.key,
        "conversations": [*response.messages, {"role": "assistant", "content": response.text}],
    }
    return row | ({"tools": list(response.tools)} if response.tools else {})
