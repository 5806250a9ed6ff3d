"""What all events have in common."""

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Event:
    """Base of all events; `kind` names the class in the file."""

    kind: ClassVar[str]
