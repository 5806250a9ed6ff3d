"""errors.jsonl: the prompts that gave no answer."""

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from pipeline.errors import DataError
from pipeline.responses.record import Failure, Scope, key_digest

FAILURES = "errors.jsonl"


def read_failures(folder: Path, scope: Scope) -> tuple[int, set[bytes], list[str]]:
    """Bytes of whole lines, key digests of this scope's failures, and what was wrong with the file."""
    whole, keys, problems = 0, set(), []
    for number, line in enumerate(_lines(folder), start=1):
        if not line.endswith(b"\n"):
            problems.append(f"{folder / FAILURES}, line {number}: a torn last line of {len(line):,} bytes was cut off")
            break
        whole += len(line)
        try:
            failure = Failure.from_line(line)
        except DataError as error:
            problems.append(f"{folder / FAILURES}, line {number}: {error}; the line is passed over")
            continue
        if (failure.revision, failure.sampling) == (scope.revision, scope.sampling):
            keys.add(key_digest(failure.key))
    return whole, keys, problems


def iter_failures(folder: Path) -> Iterator[Failure]:
    """Every failure of a store, of all scopes. Raises DataError for a line that is none; a torn last line is left out."""
    for line in _lines(folder):
        if line.endswith(b"\n"):
            yield Failure.from_line(line)


def commonest_reason(folders: Mapping[Path, Scope]) -> str:
    """Why most prompts of these stores gave no answer, each by its newest failure; nothing where none is kept."""
    reasons: dict[tuple[Path, bytes], str] = {}
    for folder, scope in folders.items():
        for line in _lines(folder):
            with contextlib.suppress(DataError):
                failure = Failure.from_line(line)
                if (failure.revision, failure.sampling) == (scope.revision, scope.sampling):
                    reasons[folder, key_digest(failure.key)] = failure.reason
    return Counter(reasons.values()).most_common(1)[0][0] if reasons else ""


def _lines(folder: Path) -> Iterator[bytes]:
    path = folder / FAILURES
    if path.exists():
        with path.open("rb") as file:
            yield from file
