"""A name for a target model's weights that takes milliseconds, also for a terabyte of them."""

import hashlib
from pathlib import Path

from pipeline.errors import DataError
from pipeline.tensor_files import weight_files

SAMPLE = 1 << 20
"""Bytes that are read at either end of a weight file: its header with every name and shape, and some weights."""


def model_fingerprint(folder: Path) -> str:
    """`NAME@0123456789ab`: the folder's name, and a hash over config.json and the sizes and both ends of the weight files.

    Two models with equal digits have the same configuration and, but for changes in the middle of a file alone, the same
    weights. Raises DataError when the folder holds no config.json or no safetensors files.
    """
    if not (folder / "config.json").is_file():
        raise DataError(f"{folder}: no model here (config.json is missing)")
    digest = hashlib.sha256((folder / "config.json").read_bytes())
    for file in weight_files(folder):
        size = file.stat().st_size
        digest.update(f"{file.name}\0{size}\0".encode())
        with file.open("rb") as stream:
            digest.update(stream.read(SAMPLE))
            stream.seek(max(0, size - SAMPLE))
            digest.update(stream.read(SAMPLE))
    return f"{folder.resolve().name}@{digest.hexdigest()[:12]}"


def same_model(one: str, other: str) -> bool:
    """Whether two fingerprints are of the same weights, whatever their folders are called."""
    return one.rpartition("@")[2] == other.rpartition("@")[2]
