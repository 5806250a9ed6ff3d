"""The manifest of a store: its parts by hash, so that what is made from them can name what it was made from."""

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.artifacts import read_record, sha256_file, write_json
from pipeline.errors import DataError
from pipeline.responses.index import part_paths
from pipeline.responses.store import ResponseStore

MANIFEST = "manifest.json"
log = logging.getLogger(__name__)


def write_manifest(store: ResponseStore, *, way: dict[str, Any]) -> None:
    """Write the manifest of what the store holds now. `way` spells out the scope's sampling. Raises DiskFullError.

    Parts that have not grown keep the hash that the manifest before gave them, and so do other scopes their counts. One that is
    damaged is written anew from the parts, of which it is a summary; what it said of other scopes is gone until they are run.
    """
    path = store.folder / MANIFEST
    before = read_manifest(store.folder)
    hashes = {(part["name"], part["bytes"]): part["sha256"] for part in before["parts"]}
    name = {"revision": store.scope.revision, "sampling": store.scope.sampling}
    others = [scope for scope in before["scopes"] if {key: scope[key] for key in name} != name]
    counts = {
        "answers": store.answers,
        "tokens": store.tokens,
        "finish_reasons": dict(store.finish_reasons),
        "errors": store.failures,
    }
    manifest = {
        "kind": "responses",
        "dataset": store.scope.dataset,
        "parts": [_part(part, hashes) for part in part_paths(store.folder)],
        "scopes": [*others, {**name, "way": way, **counts}],
        "written": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_json(path, manifest)


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a store; an empty one where there is none, or only a damaged one."""
    try:
        found = read_record(folder / MANIFEST)
    except FileNotFoundError:
        return {"parts": [], "scopes": []}
    except DataError as error:
        log.warning("%s; it counts as none", error)
        return {"parts": [], "scopes": []}
    return found


def _part(path: Path, hashes: dict[tuple[str, int], str]) -> dict[str, Any]:
    size = path.stat().st_size
    return {"name": path.name, "bytes": size, "sha256": hashes.get((path.name, size)) or sha256_file(path)}
