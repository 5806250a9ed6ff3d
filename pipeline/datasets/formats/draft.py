"""What a format reader makes of a row, before it gets its key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Row = Mapping[str, Any]
Message = dict[str, Any]


@dataclass(kw_only=True)
class Draft:
    messages: list[Message] = field(default_factory=list)
    input_ids: list[int] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """Changes that a person should know of, in a few words each."""
