"""Configs as flat lists of keys, and what differs between two of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

NAMING = ("slug", "name")
"""Keys that name an element of a list, so that an added dataset is one difference and not a shift of all."""


@dataclass(frozen=True)
class Difference:
    key: str
    old: str
    """Empty where the key is new."""
    new: str


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, str]]:  # noqa: ANN401  (JSON)
    """`("datasets.B1.budget", "10000")` and so on, for every leaf."""
    if isinstance(value, Mapping):
        items = [(str(key), inner) for key, inner in value.items()]
    elif isinstance(value, Sequence) and not isinstance(value, str) and any(isinstance(inner, Mapping) for inner in value):
        items = [(_name(inner, i), inner) for i, inner in enumerate(value)]
    else:
        yield prefix, "–" if value is None else str(value)
        return
    for key, inner in items:
        yield from flat(inner, f"{prefix}.{key}" if prefix else key)


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Difference]:
    """Keys whose values differ, in the order of the newer config; keys that are gone come last."""
    before, after = dict(flat(old)), dict(flat(new))
    keys = [*after, *(key for key in before if key not in after)]
    return [Difference(key, before.get(key, ""), after.get(key, "")) for key in keys if before.get(key) != after.get(key)]


def _name(value: Any, i: int) -> str:  # noqa: ANN401  (JSON)
    if isinstance(value, Mapping):
        for key in NAMING:
            if isinstance(value.get(key), str):
                return str(value[key])
    return str(i)
