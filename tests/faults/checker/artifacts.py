"""Hidden states and checkpoints: what is called finished is whole, and nothing is in it twice."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.faults.checker.copies import lines_of
from tests.faults.checker.rows import Row, Rows


def contradictions(rows: Rows, home: Path) -> Iterator[str]:
    slugs = {row["id"]: row["slug"] for row in rows.projects}
    for run in rows.runs:
        project = home / "projects" / slugs[run["project_id"]]
        if run["stage"] == "extract":
            yield from _shards(rows, run, project / "hidden" / str(run["id"]))
        elif run["stage"] == "train":
            yield from _checkpoints(rows, run, project / "checkpoints" / str(run["id"]))


def _shards(rows: Rows, run: Row, folder: Path) -> Iterator[str]:
    """While it is unfinished, a damaged shard is for the next attempt to find; afterwards there must be none."""
    if run["status"] != "finished":
        return
    names: Counter[tuple[str, str]] = Counter()
    tokens = 0
    for path in sorted(folder.glob("shard-*.json")):
        try:
            index: Any = json.loads(path.read_bytes())
            data = path.with_suffix(".safetensors").read_bytes()
        except (OSError, ValueError) as error:
            yield f"{path}: {error}"
            continue
        if hashlib.sha256(data).hexdigest() != index["sha256"]:
            yield f"{path}: its states are not those that were written"
        names.update((document["dataset"], document["name"]) for document in index["documents"])
        tokens += sum(document["tokens"] for document in index["documents"])
    yield from (f"{folder}: {' '.join(name)} is in it {count} times" for name, count in names.items() if count > 1)
    manifest = json.loads((folder / "manifest.json").read_bytes())
    last = max((row for row in rows.attempts if row["run_id"] == run["id"]), key=lambda row: int(row["number"]))
    for source, told in (("its manifest", manifest), ("its summary", last["summary"])):
        if (told.get("documents"), told.get("tokens")) != (len(names), tokens):
            told_of = (told.get("documents"), told.get("tokens"))
            yield f"{folder}: {len(names)} documents of {tokens} tokens, {source} says {told_of}"


def _checkpoints(rows: Rows, run: Row, folder: Path) -> Iterator[str]:
    here = [row for row in rows.checkpoints if row["run_id"] == run["id"]]
    if sum(bool(row["best"]) for row in here) > 1:
        yield f"r{run['id']} has several best checkpoints"
    for row in here:
        if row["removed_at"] is None and not _is_aside(Path(row["path"])):
            yield from _whole(Path(row["path"]))
    if run["status"] == "finished":
        rowed = {row["path"] for row in here if row["removed_at"] is None}
        yield from (f"{path} has no row" for path in folder.glob("step-*") if str(path) not in rowed)
        yield from _loss(rows, run)


def _is_aside(path: Path) -> bool:
    """A damaged one is renamed by the attempt that finds it; its row stays, as what was said of it does."""
    return bool(list(path.parent.glob(f"damaged-{path.name}*")))


def _whole(path: Path) -> Iterator[str]:
    try:
        manifest: Any = json.loads((path / "manifest.json").read_bytes())
    except (OSError, ValueError) as error:
        yield f"{path}: {error}"
        return
    for name, digest in manifest["files"].items():
        file = path / name
        if not file.exists() or hashlib.sha256(file.read_bytes()).hexdigest() != digest:
            yield f"{file}: not what was saved"


def _loss(rows: Rows, run: Row) -> Iterator[str]:
    """The number by which lists sort is the lowest that any attempt told."""
    folders = [Path(row["folder"]) for row in rows.attempts if row["run_id"] == run["id"]]
    told = [line["loss"] for path in folders for line in lines_of(path / "events.jsonl") if line.get("kind") == "eval_logged"]
    if (min(told) if told else None) != run["loss"]:
        yield f"r{run['id']} is listed with a loss of {run['loss']}, its events say {min(told, default=None)}"
