"""Reading the parts themselves: for what the index does not know, and for whoever wants every line."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.errors import DataError
from pipeline.responses.index import Position, part_number, part_paths
from pipeline.responses.record import Response


@dataclass(frozen=True, kw_only=True, slots=True)
class PartLine:
    """One line of a part."""

    path: Path
    part: int
    number: int
    """Line in its part, from 1."""
    offset: int
    size: int
    """Bytes, newline included."""
    response: Response | None
    """None for a line that is none."""
    problem: str = ""
    torn: bool = False
    """The file ends in the middle of this line: its writer was killed or is writing."""


def scan_parts(folder: Path, start: Position | None = None, *, line: int = 1) -> Iterator[PartLine]:
    """Every line of a store from `start` on, which is line number `line` of its part."""
    for path in part_paths(folder):
        part, offset, number = part_number(path), 0, 1
        if start is not None and part < start.part:
            continue
        if start is not None and part == start.part:
            offset, number = start.offset, line
        with path.open("rb") as file:
            file.seek(offset)
            for raw in file:
                yield _line(path, part, number, offset, raw)
                offset += len(raw)
                number += 1


def _line(path: Path, part: int, number: int, offset: int, raw: bytes) -> PartLine:
    response, problem, torn = None, "", not raw.endswith(b"\n")
    if torn:
        problem = "the line is torn"
    else:
        try:
            response = Response.from_line(raw)
        except DataError as error:
            problem = str(error)
    return PartLine(
        path=path, part=part, number=number, offset=offset, size=len(raw), response=response, problem=problem, torn=torn
    )
