"""Pages of a long prompts.jsonl, without reading what comes before them."""

import os
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

from pipeline.datasets.conversation import Conversation, read_prompts

OFFSETS = "offsets.bin"
STRIDE = 64
"""Lines between two stored offsets."""


class OffsetWriter:
    """Writes where every 64th line of a prompts file begins, as native 64-bit integers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offsets = array("Q")
        self._lines = 0

    def add(self, offset: int) -> None:
        """Tell where the next line begins."""
        if self._lines % STRIDE == 0:
            self._offsets.append(offset)
        self._lines += 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._path.write_bytes(self._offsets.tobytes())


@dataclass(frozen=True, kw_only=True)
class PromptPage:
    """Some prompts, in file order."""

    prompts: list[Conversation]
    next_offset: int | None
    """Where the next page begins; None at the end. Without a search it counts prompts, with one it counts hits."""


def read_page(folder: Path, *, offset: int = 0, limit: int = 50, search: str = "") -> PromptPage:
    """Prompts `offset` … `offset + limit` of a revision; with `search`, of those whose text or label holds it.

    Upper and lower case are the same. A search reads the file up to the last hit that it shows. Raises OSError, DataError.
    """
    offset, limit = max(offset, 0), max(limit, 1)
    if needle := search.strip().casefold():
        hits = (prompt for prompt in read_prompts(folder / "prompts.jsonl") if _holds(prompt, needle))
        found = list(islice(hits, offset, offset + limit + 1))
    else:
        found = list(islice(_from(folder, offset), limit + 1))
    return PromptPage(prompts=found[:limit], next_offset=offset + limit if len(found) > limit else None)


def read_prompt(folder: Path, position: int) -> Conversation | None:
    """The prompt at a position from 0; None past the end."""
    return next(_from(folder, position), None)


def read_evenly(folder: Path, count: int, most: int) -> Iterator[Conversation]:
    """At most `most` of a revision's `count` prompts, evenly spread over the file."""
    if count <= most:
        yield from read_prompts(folder / "prompts.jsonl")
        return
    for i in range(most):
        if (prompt := read_prompt(folder, i * count // most)) is not None:
            yield prompt


def _from(folder: Path, position: int) -> Iterator[Conversation]:
    with (folder / OFFSETS).open("rb") as file:
        file.seek(0, os.SEEK_END)
        last = file.tell() // 8 - 1
        stored = min(position // STRIDE, last)
        file.seek(8 * stored)
        (start,) = array("Q", file.read(8))
    return islice(read_prompts(folder / "prompts.jsonl", offset=start), position - STRIDE * stored, None)


def _holds(prompt: Conversation, needle: str) -> bool:
    texts = (str(message["content"]) for message in prompt.messages)
    return needle in prompt.key or needle in prompt.id.casefold() or any(needle in text.casefold() for text in texts)
