"""Several workers' shares of one extraction → one folder of shards, as one worker would have left it.

The shares must be finished, of one layout and one input, all there and each there once: their manifests say so, and the
documents are looked at, too. Shards are linked where folders share a disk, else copied; each is read once and compared
with its hash.
"""

import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pipeline.artifacts import read_record, sha256_file, write_json
from pipeline.errors import DataError
from pipeline.shard_layout import Layout
from pipeline.shards import ShardWriter, list_documents


def join_shares(folders: Sequence[Path], out: Path, *, on_shard: Callable[[Path], None] = lambda path: None) -> dict[str, Any]:
    """The manifest of the joined folder. `on_shard` is told of each shard that is in place.

    Raises DataError that names the folder which does not fit; `out` then holds no manifest.
    """
    manifests = [_finished(folder) for folder in folders]
    _check_shares(folders, manifests)
    if out.exists() and any(out.iterdir()):
        raise DataError(f"{out}: is not empty; shares are joined in a folder of their own")
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / "layout.json", Layout.read(folders[0]).to_json())
    number = 0
    for folder, manifest in zip(folders, manifests, strict=True):
        for name, digest in manifest["shards"].items():
            _place(folder / f"{name}.safetensors", out / f"shard-{number:05}.safetensors", digest)
            write_json(out / f"shard-{number:05}.json", read_record(folder / f"{name}.json"))
            on_shard(out / f"shard-{number:05}.safetensors")
            number += 1
    return ShardWriter(out, Layout.read(folders[0])).finish(inputs=manifests[0]["inputs"])


def _finished(folder: Path) -> dict[str, Any]:
    Layout.read(folder)
    path = folder / "manifest.json"
    if not path.exists():
        raise DataError(f"{folder}: this extraction is not finished (manifest.json is missing)")
    return read_record(path)


def _check_shares(folders: Sequence[Path], manifests: Sequence[dict[str, Any]]) -> None:
    first = Layout.read(folders[0])
    owners: dict[tuple[str, str], Path] = {}
    for folder, manifest in zip(folders, manifests, strict=True):
        if Layout.read(folder) != first:
            raise DataError(f"{folder}: holds hidden states of another layout than {folders[0]}")
        if manifest["inputs"] != manifests[0]["inputs"]:
            changed = sorted(name for name, digest in manifest["inputs"].items() if manifests[0]["inputs"].get(name) != digest)
            raise DataError(f"{folder}: was made from other {', '.join(changed) or 'inputs'} than {folders[0]}")
        for document in list_documents(folder):
            before = owners.setdefault((document.dataset, document.name), folder)
            if before != folder:
                raise DataError(f"{folder}: holds {document.dataset}/{document.name}, and so does {before}")
    shares = [manifest.get("share", {"part": 1, "parts": 1}) for manifest in manifests]
    parts = shares[0]["parts"]
    found = sorted(share["part"] for share in shares)
    if any(share["parts"] != parts for share in shares) or found != list(range(1, parts + 1)):
        said = ", ".join(
            f"{folder} is {share['part']} of {share['parts']}" for folder, share in zip(folders, shares, strict=True)
        )
        raise DataError(f"these are not all shares of one extraction, each once: {said}")


def _place(source: Path, target: Path, digest: str) -> None:
    if sha256_file(source) != digest:
        raise DataError(f"{source}: its content is not what its manifest says; extract this share again")
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
