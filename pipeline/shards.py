"""Hidden states on disk: safetensors shards that are written as a stream, resumed by the shard and read by the document.

FOLDER/layout.json               what every shard holds; written first, compared on resume
FOLDER/shard-00000.safetensors   token_ids loss_mask features last_hidden [argmax], documents end to end
FOLDER/shard-00000.json          the documents in it and the file's hash; written after it: only then the shard exists
FOLDER/manifest.json             totals and inputs; written last: only then the extraction is finished
"""

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor

from pipeline.artifacts import atomic_write, read_record, sha256_file, write_json
from pipeline.batching import Document
from pipeline.errors import DataError
from pipeline.shard_layout import DTYPES, Layout


@dataclass(frozen=True, kw_only=True)
class StoredDocument:
    """Where one document lies."""

    shard: Path
    start: int
    tokens: int
    supervised: int
    dataset: str
    name: str
    agreed: int | None = None
    """Generated tokens that were the target's most likely one; None where that was not stored."""

    @property
    def rows(self) -> slice:
        """Of the shard's tensors."""
        return slice(self.start, self.start + self.tokens)


class ShardWriter:
    """Appends documents; at most one shard of them is in memory. Documents of an unfinished shard are lost with the process."""

    def __init__(self, folder: Path, layout: Layout, *, shard_bytes: int = 256 << 20) -> None:
        """Opens or resumes a folder. Raises DataError when it holds shards of another layout."""
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / "layout.json").exists():
            found = Layout.read(folder)
            if found != layout:
                raise DataError(f"{folder}: holds hidden states of another layout ({found}), not {layout}")
        else:
            write_json(folder / "layout.json", layout.to_json())
        self._folder, self._layout, self._shard_bytes = folder, layout, shard_bytes
        self.done = {(document.dataset, document.name) for document in list_documents(folder)}
        """(dataset, prompt id) of the documents that are safe on disk: what a resumed extraction skips."""
        self._pending: list[Document] = []
        self._pending_bytes = 0

    def add(self, document: Document) -> Path | None:
        """Take one document; returns the shard that this completed, if it did.

        Raises DataError that names the document when it does not fit the layout or holds NaN; the rest goes on.
        """
        dtype = DTYPES[self._layout.dtype]
        kept = {name: getattr(document, name).to("cpu", dtype) for name in ("features", "last_hidden")}
        document = replace(document, **kept)
        _check(document, self._layout)
        self._pending.append(document)
        self._pending_bytes += len(document.token_ids) * self._layout.bytes_per_token
        return self.flush() if self._pending_bytes >= self._shard_bytes else None

    def flush(self) -> Path | None:
        """Write what is pending as one shard; returns its file, or None when nothing was pending."""
        if not self._pending:
            return None
        last = max((int(path.stem.removeprefix("shard-")) for path in _finished_shards(self._folder)), default=-1)
        path = self._folder / f"shard-{last + 1:05}.safetensors"
        # What is added to a finished extraction makes it unfinished until its manifest is written again.
        (self._folder / "manifest.json").unlink(missing_ok=True)
        atomic_write(path, save(_concatenated(self._pending)))
        body = {
            "documents": [_entry(document) for document in self._pending],
            "sha256": sha256_file(path),
            "bytes": path.stat().st_size,
        }
        write_json(path.with_suffix(".json"), body)
        self.done |= {(d.dataset, d.name) for d in self._pending}
        self._pending, self._pending_bytes = [], 0
        return path

    def finish(self, *, inputs: Mapping[str, str], share: Mapping[str, int] | None = None) -> dict[str, Any]:
        """Flush, then write the manifest. Returns it.

        `inputs`: name → content hash of what was read. `share`: part and parts, of one of several workers.
        """
        self.flush()
        indexes = {path.stem: read_record(path) for path in _finished_shards(self._folder)}
        documents = [document for index in indexes.values() for document in index["documents"]]
        known = [document.get("agreed") for document in documents]
        manifest = self._layout.to_json() | {
            "inputs": dict(inputs),
            "documents": len(documents),
            "tokens": sum(document["tokens"] for document in documents),
            "supervised": sum(document["supervised"] for document in documents),
            "agreed": None if None in known else sum(known),
            "bytes": sum(index["bytes"] for index in indexes.values()),
            "shards": {name: index["sha256"] for name, index in indexes.items()},
        }
        if share is not None:
            manifest["share"] = dict(share)
        write_json(self._folder / "manifest.json", manifest)
        return manifest


class ShardReader:
    """Random access to stored documents (a DocumentSource); only the states that are asked for are read."""

    def __init__(self, folder: Path) -> None:
        """Raises DataError when the folder holds no hidden states, or a shard is missing or truncated."""
        self.layout = Layout.read(folder)
        self.documents = list_documents(folder)
        self.excluded = 0
        self._folder = folder

    def __len__(self) -> int:
        return len(self.documents)

    def __getitem__(self, index: int) -> Document:
        return self.load([index])[0]

    def load(self, indices: Sequence[int]) -> list[Document]:
        """Documents with their states, in the order of `indices`. A shard is opened once, however many lie in it."""
        by_shard: dict[Path, list[int]] = defaultdict(list)
        for index in indices:
            by_shard[self.documents[index].shard].append(index)
        found: dict[int, Document] = {}
        for shard, wanted in by_shard.items():
            with safe_open(shard, framework="pt") as file:
                found |= {index: _document(file, self.documents[index]) for index in wanted}
        return [found[index] for index in indices]

    def ids_and_mask(self, index: int) -> tuple[Tensor, Tensor]:
        """int64 [T] and bool [T] of one document, without its states."""
        stored = self.documents[index]
        with safe_open(stored.shard, framework="pt") as file:
            ids = file.get_slice("token_ids")[stored.rows]
            mask: Tensor = file.get_slice("loss_mask")[stored.rows]
        return ids.to(torch.int64), mask

    def inputs(self) -> dict[str, str]:
        """The folder's name → a hash over its shards' hashes, finished extraction or not."""
        shards = [read_record(path)["sha256"] for path in _finished_shards(self._folder)]
        digest = hashlib.sha256("".join(shards).encode()).hexdigest()
        return {"/".join(self._folder.parts[-2:]): digest}


def list_documents(folder: Path) -> list[StoredDocument]:
    """All documents of finished shards, in the order in which they were written. Raises DataError for a damaged shard."""
    documents = []
    finished = _finished_shards(folder)
    manifest = folder / "manifest.json"
    promised = read_record(manifest)["shards"] if manifest.exists() else {}
    if lost := sorted(set(promised) - {index.stem for index in finished}):
        raise DataError(f"{folder / lost[0]}.json: missing, and manifest.json names this shard")
    for index in finished:
        body, shard, start = read_record(index), index.with_suffix(".safetensors"), 0
        size = shard.stat().st_size if shard.exists() else 0
        if size != body["bytes"]:
            raise DataError(f"{shard}: truncated or missing: {size:,} bytes, {index.name} says {body['bytes']:,}")
        for entry in body["documents"]:
            documents.append(StoredDocument(shard=shard, start=start, **entry))
            start += entry["tokens"]
    return documents


def _finished_shards(folder: Path) -> list[Path]:
    """Index files of finished shards. A shard file without one was cut off while it was written, and is written over."""
    return sorted(folder.glob("shard-*.json"))


def _document(file: Any, stored: StoredDocument) -> Document:  # noqa: ANN401  (an open safetensors file)
    part = {name: file.get_slice(name)[stored.rows] for name in set(file.keys())}
    return Document(
        token_ids=part["token_ids"].to(torch.int64),
        loss_mask=part["loss_mask"],
        features=part["features"],
        last_hidden=part["last_hidden"],
        argmax=part["argmax"].to(torch.int64) if "argmax" in part else None,
        dataset=stored.dataset,
        name=stored.name,
    )


def _check(document: Document, layout: Layout) -> None:
    name = f"{document.dataset}/{document.name}"
    features = len(layout.feature_layers.hidden_states) * layout.hidden_size
    widths = (document.features.shape[-1], document.last_hidden.shape[-1])
    if widths != (features, layout.hidden_size):
        raise DataError(
            f"{name}: states are {widths[0]} and {widths[1]} wide, the layout says {features} and {layout.hidden_size}"
        )
    if (
        len(document.token_ids) == 0
        or not 0 <= int(document.token_ids.min()) <= int(document.token_ids.max()) < layout.vocab_size
    ):
        raise DataError(f"{name}: no tokens, or one outside the vocabulary of {layout.vocab_size}")
    for what, states in (("features", document.features), ("last_hidden", document.last_hidden)):
        bad = (~torch.isfinite(states)).any(-1)
        if bool(bad.any()):
            raise DataError(f"{name}: {what} are NaN or infinite as {layout.dtype}, first at position {int(bad.nonzero()[0])}")


def _entry(document: Document) -> dict[str, Any]:
    """What the index says of one document: the fields of StoredDocument, but for its place."""
    entry = {"dataset": document.dataset, "name": document.name, "tokens": len(document.token_ids)}
    return entry | {"supervised": int(document.loss_mask.sum()), "agreed": agreed(document)}


def agreed(document: Document) -> int | None:
    """Generated tokens that are the target's most likely one at their place; None when that is not known."""
    if document.argmax is None:
        return None
    return int(((document.argmax[:-1] == document.token_ids[1:]) & document.loss_mask[1:]).sum())


def _concatenated(documents: list[Document]) -> dict[str, Tensor]:
    tensors = {
        "token_ids": torch.cat([d.token_ids for d in documents]).to(torch.int32),
        "loss_mask": torch.cat([d.loss_mask for d in documents]).to(torch.bool),
        "features": torch.cat([d.features for d in documents]),
        "last_hidden": torch.cat([d.last_hidden for d in documents]),
    }
    argmax = [d.argmax for d in documents if d.argmax is not None]
    # Stored for all documents of a shard or for none: where it is missing, the teacher computes it.
    return tensors | ({"argmax": torch.cat(argmax).to(torch.int32)} if len(argmax) == len(documents) else {})
