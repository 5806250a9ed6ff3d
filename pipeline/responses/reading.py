"""A dataset's answers, as later stages and checkers read them: from the parts alone, whatever the index says."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.errors import DataError
from pipeline.responses.failures import iter_failures
from pipeline.responses.record import Response
from pipeline.responses.scan import scan_parts


def iter_records(folder: Path) -> Iterator[Response]:
    """Every answer of one dataset's folder, of all scopes, in order of completion.

    A torn last line is left out: its writer may be at work. Raises DataError that names file and line for any other line that
    is no response.
    """
    for line in scan_parts(folder):
        if line.response is not None:
            yield line.response
        elif not line.torn:
            raise DataError(f"{line.path}, line {line.number}: {line.problem}")


@dataclass(kw_only=True)
class Recount:
    """What the files of one dataset hold."""

    answers: int = 0
    """Answers to different prompts of one scope; the same prompt in two scopes counts twice."""
    duplicates: int = 0
    tokens: int = 0
    truncated: int = 0
    longest: int = 0
    errors: int = 0
    """Prompts with a failure and without an answer."""
    unreadable: int = 0
    """Lines that are no response, a torn last one included."""
    names: set[tuple[str, str, str]] = field(default_factory=set, repr=False)
    """(revision, sampling, key) of each answer."""


def recount(folder: Path, *, sampling: str | None = None) -> dict[str, Recount]:
    """Count each dataset's folder below `folder`, line by line, without any index.

    `sampling` limits the count to one way of asking.
    """
    stores = sorted({path.parent for path in folder.glob("*/part-*.jsonl")})
    return {store.name: _recount(store, sampling) for store in stores}


def _recount(folder: Path, sampling: str | None) -> Recount:
    count = Recount()
    for line in scan_parts(folder):
        response = line.response
        if response is None:
            count.unreadable += 1
        elif sampling in (None, response.sampling):
            _add(count, response)
    failed = {(f.revision, f.sampling, f.key) for f in iter_failures(folder) if sampling in (None, f.sampling)}
    count.errors = len(failed - count.names)
    return count


def _add(count: Recount, response: Response) -> None:
    name = (response.revision, response.sampling, response.key)
    if name in count.names:
        count.duplicates += 1
        return
    count.names.add(name)
    count.answers += 1
    count.tokens += response.completion_tokens
    count.truncated += response.finish_reason == "length"
    count.longest = max(count.longest, response.completion_tokens)
