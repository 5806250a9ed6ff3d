"""Which tensors a folder of safetensors files holds, read from the files' headers alone.

Pickled weights are never opened: a stranger's pickle is a stranger's program.
"""

import json
import struct
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from pipeline.artifacts import read_json
from pipeline.errors import DataError

INDEX = "model.safetensors.index.json"

LONGEST_HEADER = 100 << 20
"""Bytes: the limit of the format's own reader."""


@dataclass(frozen=True)
class TensorEntry:
    file: Path
    name: str
    """As the file has it."""
    dtype: str
    """As safetensors writes it: F32, BF16, I64, BOOL …"""
    shape: tuple[int, ...]


def list_tensors(folder: Path) -> dict[str, TensorEntry]:
    """Every tensor in the folder's safetensors files, by name. Raises DataError that names the file at fault."""
    entries: dict[str, TensorEntry] = {}
    for file in weight_files(folder):
        entries |= read_header(file)
    return entries


def weight_files(folder: Path) -> list[Path]:
    """The files of the index, where there is one, else all safetensors files. Raises DataError when there are none."""
    index = folder / INDEX
    if index.exists():
        weight_map = read_json(index).get("weight_map")
        if not isinstance(weight_map, dict):
            raise DataError(f"{index}: no weight_map")
        files = sorted({folder / str(name) for name in weight_map.values()})
        missing = [file.name for file in files if not file.exists()]
        if missing:
            raise DataError(f"{index}: names files that are not there: {', '.join(missing)}")
        return files
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        pickles = [file.name for pattern in ("*.bin", "*.pt", "*.pth") for file in sorted(folder.glob(pattern))]
        hint = f" ({', '.join(pickles)}: pickles are not read; convert them to safetensors)" if pickles else ""
        raise DataError(f"{folder}: no safetensors file{hint}")
    return files


def read_header(file: Path) -> dict[str, TensorEntry]:
    """The tensors of one file. Raises DataError for a file that is truncated or no safetensors file at all."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        prefix = stream.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == 8 else 0
        if not 2 <= length <= min(size - 8, LONGEST_HEADER):
            raise DataError(f"{file}: truncated or no safetensors file (header of {length} bytes in a file of {size})")
        raw = stream.read(length)
    try:
        header = json.loads(raw)
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        end = 8 + length + max((int(entry["data_offsets"][1]) for entry in tensors.values()), default=0)
        found = {name: TensorEntry(file, name, str(e["dtype"]), tuple(map(int, e["shape"]))) for name, e in tensors.items()}
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise DataError(f"{file}: its header is no valid safetensors header ({error})") from error
    if size < end:
        raise DataError(f"{file}: truncated: {size:,} bytes where its header promises {end:,}")
    return found


def load_tensor(entry: TensorEntry) -> Tensor:
    """One tensor, nothing else of its file. Raises DataError that names file and tensor."""
    try:
        with safe_open(entry.file, framework="pt") as opened:
            tensor: Tensor = opened.get_tensor(entry.name)
    except (SafetensorError, OSError) as error:
        raise DataError(f"{entry.file}: {entry.name}: {error}") from error
    return tensor


def describe_not_finite(tensor: Tensor) -> str:
    """How many values are NaN or infinite, in words; empty when all are finite."""
    count = tensor.numel() - int(torch.isfinite(tensor).sum())
    return f"{count:,} of {tensor.numel():,} values are NaN or infinite" if count else ""
