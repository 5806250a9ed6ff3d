"""Whether the states will fit, before the first is computed."""

import shutil
from pathlib import Path

from pipeline.amounts import size
from pipeline.errors import DiskFullError
from pipeline.shard_layout import Layout


def require_room(folder: Path, layout: Layout, tokens: int) -> int:
    """Bytes that the states of so many more tokens take. Raises DiskFullError, with both numbers, when they do not fit."""
    needed = tokens * layout.bytes_per_token
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DiskFullError(
            f"the hidden states of {tokens:,} tokens take {size(needed)} ({layout.bytes_per_token:,} bytes a token), and "
            f"{size(free)} are free in {folder}. Nothing was started. Online training needs no disk: there the target "
            "computes its states while the drafter trains"
        )
    return needed
