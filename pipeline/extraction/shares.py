"""Which worker reads which answers, where several share one extraction: told by the prompt's key alone.

So workers on hosts that never speak to one another agree, whatever each of them has seen of the answers so far.
"""

import hashlib
from collections.abc import Sequence
from typing import Protocol, TypeVar


class Named(Protocol):
    @property
    def dataset(self) -> str: ...
    @property
    def name(self) -> str:
        """The prompt's key."""


Item = TypeVar("Item", bound=Named)


def part_of(dataset: str, name: str, parts: int) -> int:
    """1 … parts."""
    digest = hashlib.sha256(f"{dataset}\0{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") % parts + 1


def own(items: Sequence[Item], part: int, parts: int) -> list[Item]:
    """Those of one worker, in their order."""
    return [item for item in items if part_of(item.dataset, item.name, parts) == part]
