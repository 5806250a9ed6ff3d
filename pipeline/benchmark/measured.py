"""measured.jsonl: every request of a benchmark, and after the last one of a pass a line that says that it is whole.

A pass is one contender over one dataset's prompts. Requests without such a line belong to a pass that was cut off: they stay
in the file and count for nothing. Passes that are compared with one another were measured beside one another, so a group
counts when all of its contenders were measured by the same attempt.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pipeline.acceptance import Served, served_accept_length
from pipeline.benchmark.contenders import Contender, Group
from pipeline.errors import DataError
from pipeline.folder_lock import FolderLock
from pipeline.responses.appending import AppendFile


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One prompt, answered by one contender."""

    key: str
    """The prompt's."""
    prompt_tokens: int
    completion_tokens: int
    finish_reason: str
    latency_s: float
    first_token_s: float | None
    verify_ct: int
    """Verifications; 0 for plain decoding."""
    correct_drafts: tuple[int, ...]
    """How many verifications accepted 0, 1, 2, … drafts."""
    output_ids: tuple[int, ...]

    @property
    def served(self) -> Served:
        return Served(completion_tokens=self.completion_tokens, verify_ct=self.verify_ct, correct_drafts=self.correct_drafts)


@dataclass(frozen=True, kw_only=True, slots=True)
class Pass:
    """One contender over one dataset's prompts."""

    dataset: str
    concurrency: int
    repetition: int
    mode: str
    shape: str
    """Empty for plain."""
    seconds: float
    """From the first request sent to the last answer."""
    requests: tuple[Request, ...] = field(repr=False)

    @property
    def tokens(self) -> int:
        return sum(request.completion_tokens for request in self.requests)

    @property
    def tokens_per_s(self) -> float:
        return self.tokens / self.seconds

    @property
    def accept_length(self) -> float | None:
        """None where nothing was drafted."""
        served = [request.served for request in self.requests]
        return served_accept_length(served) if any(counts.verify_ct for counts in served) else None


PLACE = ("dataset", "concurrency", "repetition", "mode", "shape")
"""What names a pass."""


class MeasuredFile:
    """The open file. Raises FolderHeldError when another process has it open. Broken lines are passed over, with a warning."""

    def __init__(self, folder: Path, *, setting: str, attempt: str) -> None:
        """`setting` names what is measured and how: passes under another one do not count. `attempt` names this process."""
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FolderLock(folder)
        self.path = folder / "measured.jsonl"
        self._file = AppendFile(self.path)
        self._setting = setting
        self._attempt = attempt
        self.warnings: list[str] = []
        self._cut_torn_line()

    def groups(self, contenders: Sequence[Contender]) -> dict[Group, list[Pass]]:
        """The groups that all of these contenders have finished in one attempt."""
        wanted = {(contender.mode, contender.shape_name) for contender in contenders}
        found: dict[tuple[Group, str], dict[tuple[str, str], Pass]] = defaultdict(dict)
        for attempt, measured in self._passes():
            group = Group(dataset=measured.dataset, concurrency=measured.concurrency, repetition=measured.repetition)
            found[group, attempt][measured.mode, measured.shape] = measured
        return {group: list(passes.values()) for (group, _), passes in found.items() if passes.keys() == wanted}

    def add_request(self, group: Group, contender: Contender, request: Request) -> None:
        self._append("request", group, contender, asdict(request))

    def add_pass(self, group: Group, contender: Contender, *, seconds: float, requests: Sequence[Request]) -> Pass:
        """Say that all requests of a pass stand in the file."""
        self._append("pass", group, contender, {"seconds": seconds, "requests": len(requests)})
        return Pass(**asdict(group), mode=contender.mode, shape=contender.shape_name, seconds=seconds, requests=tuple(requests))

    def close(self) -> None:
        self._file.close()
        self._lock.release()

    def _append(self, kind: str, group: Group, contender: Contender, values: dict[str, Any]) -> None:
        which = {"kind": kind, "setting": self._setting, "attempt": self._attempt}
        place = asdict(group) | {"mode": contender.mode, "shape": contender.shape_name}
        self._file.append(json.dumps(which | place | values, separators=(",", ":")).encode() + b"\n")

    def _passes(self) -> Iterator[tuple[str, Pass]]:
        """(attempt, pass) of each whole pass under this setting, in the order in which they ended."""
        pending: dict[tuple[Any, ...], list[Request]] = defaultdict(list)
        for number, line in enumerate(self.path.read_bytes().splitlines(), start=1):
            try:
                row = json.loads(line)
                if row["setting"] != self._setting:
                    continue
                place = {name: row[name] for name in PLACE}
                requests = pending[row["attempt"], *place.values()]
                if row["kind"] == "request":
                    requests.append(_request(row))
                elif row["requests"] != len(requests):
                    raise DataError(f"a pass of {row['requests']} requests, of which {len(requests)} are there")
                else:
                    yield row["attempt"], Pass(**place, seconds=row["seconds"], requests=tuple(requests))
            except (ValueError, KeyError, TypeError, DataError) as error:
                self.warnings.append(f"{self.path}, line {number}: not a measurement, passed over: {error}")

    def _cut_torn_line(self) -> None:
        """A writer that was killed may have left half a line, which only that attempt's unfinished pass could miss."""
        content = self.path.read_bytes()
        if not content.endswith(b"\n"):
            self._file.cut(content.rfind(b"\n") + 1)


def _request(row: dict[str, Any]) -> Request:
    values: dict[str, Any] = {f.name: row[f.name] for f in fields(Request)}
    values |= {name: tuple(values[name]) for name in ("correct_drafts", "output_ids")}
    return Request(**values)
