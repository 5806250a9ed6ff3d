"""A row as its container gives it: a JSON value, or the reason why it is none."""

import json
from dataclasses import dataclass
from typing import Any, NoReturn

from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

MAX_ROW_BYTES = 8 * 1024 * 1024
"""Longer rows are refused: about two million tokens, more than any model's context."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RawRow:
    index: int
    """Position among the rows, from 0."""
    line: int | None
    """Line where the row begins, from 1; None where a container has no lines."""
    value: Any = None
    """The JSON value."""
    error: RowError | None = None
    """Set instead of a value when the bytes are not JSON."""


def too_long() -> RowError:
    return RowError(f"row is longer than {MAX_ROW_BYTES // 1024**2} MiB")


def parse_row(raw: bytes) -> Json:
    """Read one JSON value strictly. Raises RowError for bad UTF-8, NaN, deep nesting and everything else that is not JSON."""
    try:
        return _decoder.decode(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise RowError("not UTF-8", f"byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the row") from error
    except RecursionError as error:
        raise RowError("nested too deeply") from error
    except ValueError as error:
        raise RowError("not valid JSON", str(error)) from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decoder = json.JSONDecoder(parse_constant=_refuse_constant)
