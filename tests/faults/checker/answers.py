"""The answers, counted in their files: what was once there stays there, once; and what is told of them is so."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.faults.checker.copies import lines_of
from tests.faults.checker.rows import Row, Rows

Name = tuple[str, str, str, str, str]
"""project, dataset, revision, sampling, key."""


@dataclass
class AnswerFiles:
    """What the answer files of a home hold, line by line."""

    home: Path
    digests: dict[Name, str] = field(default_factory=dict)
    places: dict[tuple[str, str, str], tuple[int, int, int]] = field(default_factory=dict)
    """(project, dataset, key) → part, byte offset, bytes of the line."""
    tokens: Counter[tuple[str, str]] = field(default_factory=Counter)
    done: Counter[tuple[str, str]] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def read(self) -> "AnswerFiles":
        for path in sorted(self.home.glob("projects/*/responses/*/part-*.jsonl")):
            offset = 0
            for raw in path.read_bytes().splitlines(keepends=True):
                self._take(path, offset, raw)
                offset += len(raw)
        return self

    def _take(self, path: Path, offset: int, raw: bytes) -> None:
        project, dataset = path.parts[-4], path.parts[-2]
        if not raw.endswith(b"\n"):
            return  # its writer is at work, or was killed and the next one cuts it
        try:
            line: Any = json.loads(raw)
            name = (project, dataset, str(line["revision"]), str(line["sampling"]), str(line["key"]))
            tokens = len(line["output_ids"])
        except (ValueError, KeyError, TypeError) as error:
            self.problems.append(f"{path}, byte {offset}: no answer ({error!r})")
            return
        if name in self.digests:
            self.problems.append(f"{path}, byte {offset}: a second answer to {line['key']}")
            return
        self.digests[name] = hashlib.sha256(raw).hexdigest()
        self.places[project, dataset, name[4]] = (int(path.stem[5:]), offset, len(raw))
        self.tokens[project, dataset] += tokens
        self.done[project, dataset] += 1


class AnswerLedger:
    """Remembers every answer that was ever seen. `forget` those that a fault of the disk took away."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._seen: dict[Name, str] = {}
        self._taken: Counter[tuple[str, str]] = Counter()

    def forget(self, project: str, dataset: str, raw: bytes) -> None:
        """A line that is damaged on purpose: its prompt may be asked again, and counts told before may be too high by one."""
        line = json.loads(raw)
        self._seen.pop((project, dataset, line["revision"], line["sampling"], line["key"]), None)
        self._taken[project, dataset] += 1

    def look(self, rows: Rows) -> Iterator[str]:
        files = AnswerFiles(self._home).read()
        yield from files.problems
        for name, digest in self._seen.items():
            if files.digests.get(name) != digest:
                yield f"answer {' '.join(name)} was there and is {'changed' if name in files.digests else 'lost'}"
        if not files.problems:
            self._seen |= files.digests
        slugs = {row["id"]: str(row["slug"]) for row in rows.projects}
        yield from _copied(rows, files, slugs)
        runs = {run["id"]: run for run in rows.runs}
        newest: dict[int, int] = {}
        for attempt in rows.attempts:
            run = runs[attempt["run_id"]]
            if run["stage"] == "generate":
                newest[run["project_id"]] = max(newest.get(run["project_id"], 0), attempt["id"])
                yield from self._told(attempt, slugs[run["project_id"]], files)
        for attempt in rows.attempts:
            if attempt["id"] in newest.values() and attempt["status"] == "finished":
                yield from _recounted(rows, attempt, slugs[runs[attempt["run_id"]]["project_id"]], files)

    def _told(self, attempt: Row, project: str, files: AnswerFiles) -> Iterator[str]:
        """An answer is told of when it is on disk, so no event may ever have said more."""
        most: Counter[str] = Counter()
        for line in lines_of(Path(attempt["folder"]) / "events.jsonl"):
            if isinstance(line.get("done"), int) and line.get("dataset"):
                most[line["dataset"]] = max(most[line["dataset"]], line["done"])
        for dataset, told in most.items():
            found = files.done[project, dataset] + self._taken[project, dataset]
            if told > found:
                yield f"attempt {attempt['id']} told of {told} answers of {project}/{dataset}, the files hold {found}"


def _copied(rows: Rows, files: AnswerFiles, slugs: dict[int, str]) -> Iterator[str]:
    """Each row of an answer names a line that is there, and no prompt has two."""
    seen: Counter[tuple[str, str, str, str]] = Counter()
    for row in rows.answers:
        name = (slugs[row["project_id"]], row["dataset"], row["key"])
        seen[(*name, row["scope"])] += 1
        if not row["error"] and files.places.get(name) != (row["part"], row["offset"], row["size"]):
            yield f"the row of answer {' '.join(name)} names a line that is not there"
    for doubled in (name for name, count in seen.items() if count > 1):
        yield f"answer {' '.join(doubled)} has several rows"


def _recounted(rows: Rows, attempt: Row, project: str, files: AnswerFiles) -> Iterator[str]:
    """The newest generation of a project, finished: its counts are a recount, its budgets are met, its answers have rows."""
    plans = {plan["slug"]: plan for plan in attempt["config"]["datasets"]}
    rowed = Counter(row["dataset"] for row in rows.answers if not row["error"] and _is_of(rows, row, project))
    for row in rows.of(attempt, rows.datasets):
        where = (project, row["dataset"])
        if (row["done"], row["tokens"]) != (files.done[where], files.tokens[where]):
            shown, found = (row["done"], row["tokens"]), (files.done[where], files.tokens[where])
            yield f"{project}/{row['dataset']}: answers and tokens are shown as {shown}, the files hold {found}"
        if rowed[row["dataset"]] != files.done[where]:
            yield f"{project}/{row['dataset']}: {files.done[where]} answers are in the files, {rowed[row['dataset']]} have rows"
        budget = plans[row["dataset"]]["budget"]
        if budget is not None and files.tokens[where] < budget and files.done[where] < plans[row["dataset"]]["prompts_count"]:
            yield f"{project}/{row['dataset']}: finished with {files.tokens[where]} tokens of {budget}"


def _is_of(rows: Rows, row: Row, project: str) -> bool:
    return any(p["id"] == row["project_id"] and p["slug"] == project for p in rows.projects)
