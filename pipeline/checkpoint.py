"""A drafter on disk: the folder that SGLang loads, with the state of its training beside it.

    step-000100/model.safetensors   the trained weights, d2t and t2d
    step-000100/config.json         what SGLang reads
    step-000100/training/state.pt   optimizer, scheduler, random numbers, data position (not exported)
    step-000100/manifest.json       hashes, lineage, metrics; written last

The folder is made under another name and renamed when it is complete and has been checked, so a folder with this name is a
whole checkpoint or it does not exist.
"""

import io
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any
from zipfile import is_zipfile

import torch
from safetensors.torch import save
from torch import Tensor

from pipeline.artifacts import atomic_write, read_json, read_record, sha256_file, write_json
from pipeline.checkpoint_check import check_folder, drafter_entries
from pipeline.drafter_config import DrafterConfig, expected_shapes, from_json, to_json
from pipeline.errors import DataError
from pipeline.model import Drafter
from pipeline.tensor_files import load_tensor
from pipeline.vocab import DraftVocabulary

STATE = Path("training") / "state.pt"


def save_checkpoint(
    folder: Path,
    drafter: Drafter,
    *,
    lineage: Mapping[str, Any],
    metrics: Mapping[str, float] | None = None,
    training_state: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Write `folder` in one step; returns the manifest. `lineage`: inputs by hash, run, step, data, versions.

    Raises DataError when the folder exists already, or when the result would not pass `check_folder`: then nothing is left.
    """

    def fill(unfinished: Path) -> None:
        tensors = {name: tensor.detach() for name, tensor in drafter.state_dict().items()}
        _write_model(unfinished, drafter.config, tensors)
        if training_state is not None:
            (unfinished / STATE).parent.mkdir()
            # Through memory, as torch's own writer turns a full disk into an error without a reason.
            buffer = io.BytesIO()
            torch.save(dict(training_state), buffer)
            atomic_write(unfinished / STATE, buffer.getvalue())

    return _write_folder(folder, fill, {"kind": "checkpoint", "lineage": dict(lineage), "metrics": dict(metrics or {})})


def export_checkpoint(source: Path, destination: Path, *, dtype: torch.dtype = torch.bfloat16) -> dict[str, Any]:
    """Write a checkpoint as SGLang loads it, in `dtype` and without its training state; returns the manifest.

    Raises DataError for a source that does not pass `check_folder`, and for a destination that exists.
    """
    config, tensors = read_checkpoint(source)
    cast = {name: t.to(dtype) if t.is_floating_point() else t for name, t in tensors.items()}
    manifest = source / "manifest.json"
    origin = read_json(manifest) if manifest.exists() else {}
    facts = {
        "kind": "export",
        "lineage": {**origin.get("lineage", {}), "checkpoint": sha256_file(source / "model.safetensors")},
        "metrics": origin.get("metrics", {}),
    }
    return _write_folder(destination, lambda unfinished: _write_model(unfinished, config, cast), facts)


def read_checkpoint(folder: Path) -> tuple[DrafterConfig, dict[str, Tensor]]:
    """Config and tensors under the names of `expected_shapes`. Raises DataError that lists what `check_folder` found."""
    faults = [finding for finding in check_folder(folder) if finding.severity == "error"]
    if faults:
        raise DataError(f"{folder} is no usable drafter: " + "; ".join(str(fault) for fault in faults))
    config = from_json(read_json(folder / "config.json"))
    entries = drafter_entries(folder)
    tensors = {name: load_tensor(entries[name]) for name in expected_shapes(config) if name in entries}
    if "d2t" not in tensors:
        tensors["d2t"] = torch.zeros(config.draft_vocab_size, dtype=torch.int64)
    tensors["t2d"] = DraftVocabulary.from_d2t(tensors["d2t"].to(torch.int64), target_size=config.vocab_size).t2d
    return config, tensors


def load_drafter(folder: Path, embedding: Tensor, *, dtype: torch.dtype = torch.float32) -> Drafter:
    """The drafter of a checkpoint beside its target's embedding, with the checkpoint's own vocabulary mapping."""
    config, tensors = read_checkpoint(folder)
    vocabulary = DraftVocabulary.from_d2t(tensors["d2t"].to(torch.int64), target_size=config.vocab_size)
    if embedding.shape != (config.vocab_size, config.hidden_size):
        wanted = [config.vocab_size, config.hidden_size]
        raise DataError(f"{folder}: a drafter for an embedding of {wanted}, the target's is {list(embedding.shape)}")
    drafter = Drafter(config, vocabulary, embedding)
    drafter.load_state_dict(tensors)
    return drafter.to(dtype)


def load_training_state(folder: Path) -> dict[str, Any]:
    """What `save_checkpoint` was given. Only plain values and tensors are unpickled. Raises DataError when there is none."""
    path = folder / STATE
    if not path.exists():
        raise DataError(f"{folder}: no training state beside this checkpoint; it can be started from, not resumed")
    # What is no archive any more would be read in an old format, which fails in too many ways to name.
    if not is_zipfile(path):
        raise DataError(f"{path}: damaged or cut")
    try:
        state: dict[str, Any] = torch.load(path, weights_only=True, map_location="cpu")
    except (RuntimeError, UnpicklingError) as error:
        reason = str(error).splitlines()[0][:200]
        raise DataError(f"{path}: damaged ({reason})") from error
    return state


def read_manifest(folder: Path) -> dict[str, Any]:
    """manifest.json of a checkpoint. Raises DataError that names the file when it is no JSON object."""
    return read_record(folder / "manifest.json")


def damage(folder: Path) -> str:
    """What is wrong with a checkpoint's files, in words; empty when they are those that were written."""
    try:
        files = read_manifest(folder).get("files", {})
    except DataError as error:
        return str(error)
    for name, digest in files.items():
        path = folder / name
        if not path.is_file():
            return f"{path}: missing"
        if sha256_file(path) != digest:
            return f"{path}: not what was saved (another hash than manifest.json says)"
    return ""


def latest_checkpoint(folder: Path) -> Path | None:
    """The `step-*` folder with the highest number that is complete; None when there is none."""
    complete = [path for path in folder.glob("step-*") if (path / "manifest.json").exists()]
    return max(complete, key=lambda path: int(path.name.removeprefix("step-")), default=None)


def _write_model(folder: Path, config: DrafterConfig, tensors: Mapping[str, Tensor]) -> None:
    dtype = str(tensors["lm_head.weight"].dtype).removeprefix("torch.")
    contiguous = {name: tensor.contiguous() for name, tensor in tensors.items()}
    atomic_write(folder / "model.safetensors", save(contiguous, metadata={"format": "pt"}))
    write_json(folder / "config.json", to_json(config, dtype=dtype))


def _write_folder(folder: Path, fill: Callable[[Path], None], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Fill a folder of another name, check it, write its manifest, rename it."""
    if folder.exists():
        raise DataError(f"{folder} exists already; a checkpoint is never overwritten")
    folder.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        fill(unfinished)
        faults = [str(finding) for finding in check_folder(unfinished) if finding.severity == "error"]
        if faults:
            raise DataError(f"{folder}: not written, as it would not load: " + "; ".join(faults))
        files = [path for path in sorted(unfinished.rglob("*")) if path.is_file()]
        manifest = {**facts, "files": {str(path.relative_to(unfinished)): sha256_file(path) for path in files}}
        write_json(unfinished / "manifest.json", manifest)
        unfinished.chmod(0o755)
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
    return manifest
