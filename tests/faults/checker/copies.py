"""Whether the database's copy of an attempt is what its own files say, replayed here by itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.faults.checker.rows import Row, Rows
from tests.faults.checker.statuses import TERMINAL

Line = dict[str, Any]
COUNTED = ("dataset_started", "dataset_skipped", "generation_progress", "dataset_finished")
"""Kinds of events that say how much of a dataset there is."""
LAST_WORDS = ("extraction_progress", "step_logged", "eval_logged", "decode_eval_logged", "benchmark_measured")
"""Kinds of which the last one is kept as a counter."""


def lines_of(path: Path) -> list[Line]:
    """Finished lines of a JSONL file; a line that is none is left out."""
    found: list[Line] = []
    if not path.exists():
        return found
    for raw in path.read_bytes().split(b"\n")[:-1]:
        try:
            value = json.loads(raw)
        except ValueError:
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def contradictions(rows: Rows, attempt: Row) -> Iterator[str]:
    """Of one attempt. While it lives, the database may be behind its files, but what it has must be a beginning of them."""
    name = f"attempt {attempt['id']} (r{attempt['run_id']} attempt {attempt['number']}, {attempt['status']})"
    folder = Path(attempt["folder"])
    ended = attempt["status"] in TERMINAL
    lines = [line for line in lines_of(folder / "events.jsonl") if {"seq", "kind", "t"} <= set(line)]
    yield from (f"{name}: {problem}" for problem in _events(rows, attempt, lines, ended=ended))
    yield from (f"{name}: {problem}" for problem in _log(rows, attempt, folder / "log.txt", ended=ended))
    stored = lines[: next((n for n, line in enumerate(lines, 1) if line["seq"] == attempt["last_seq"]), 0)]
    yield from (f"{name}: {problem}" for problem in _counters(rows, attempt, stored, ended=ended))


def _events(rows: Rows, attempt: Row, lines: list[Line], *, ended: bool) -> Iterator[str]:
    has = [(row["seq"], row["kind"], row["payload"]) for row in rows.of(attempt, rows.events)]
    said = [(line["seq"], line["kind"], {k: v for k, v in line.items() if k not in ("seq", "t", "kind")}) for line in lines]
    if [seq for seq, _, _ in said] != list(range(1, len(said) + 1)):
        yield f"events.jsonl does not count from 1 to {len(said)}"
    if has != said[: len(has)]:
        first = next(n for n, pair in enumerate(zip(has, [*said, None], strict=False), 1) if pair[0] != pair[1])
        yield f"event {first} of {len(has)} in the database is not that of the file"
    if (has[-1][0] if has else 0) != attempt["last_seq"]:
        yield f"its last stored event is said to be {attempt['last_seq']}, and is {has[-1][0] if has else 0}"
    if ended and len(has) < len(said):
        yield f"{len(said)} events are in its file, {len(has)} in the database"


def _log(rows: Rows, attempt: Row, path: Path, *, ended: bool) -> Iterator[str]:
    written = path.read_bytes() if path.exists() else b""
    stored = b"".join(bytes(piece["data"]) for piece in rows.of(attempt, rows.logs))
    if stored != written[: len(stored)]:
        yield "its stored log is not the beginning of log.txt"
    if len(stored) != attempt["log_bytes"]:
        yield f"{attempt['log_bytes']} bytes of log are said to be stored, {len(stored)} are"
    if ended and len(stored) < len(written):
        yield f"its log has {len(written)} bytes, {len(stored)} of them stored"


def _counters(rows: Rows, attempt: Row, lines: list[Line], *, ended: bool) -> Iterator[str]:
    last: dict[str, Line] = {}
    counts: dict[str, Line] = {}
    for line in lines:
        if line["kind"] in LAST_WORDS:
            last[line["kind"]] = {k: v for k, v in line.items() if k not in ("seq", "t", "kind")}
        if line["kind"] in COUNTED:
            counts[line["dataset"]] = counts.get(line["dataset"], {}) | line
    if attempt["counters"] != last:
        yield f"its counters are {attempt['counters']}, its events say {last}"
    for row in rows.of(attempt, rows.datasets):
        told = counts.get(row["dataset"])
        fields = ("done", "tokens", "errors")
        if told and any(row[field] != told[field] for field in fields if field in told):
            yield f"{row['dataset']} has {[row[f] for f in fields]}, its events say {[told.get(f) for f in fields]}"
        if ended and (row["in_flight"] or row["state"] == "running"):
            yield f"{row['dataset']} is {row['state']} with {row['in_flight']} in flight"
    for row in rows.of(attempt, rows.charted):
        told = counts.get(row["series"], {})
        if told.get("kind") == "dataset_finished" and row["value"] != told["tokens"]:
            yield f"the chart of {row['series']} ends at {row['value']:.0f} tokens, its events at {told['tokens']}"
    for row in rows.of(attempt, rows.points):
        if row["points"] != row["moments"]:
            yield f"line {row['name']} {row['series']} has {row['points']} points at {row['moments']} moments"
