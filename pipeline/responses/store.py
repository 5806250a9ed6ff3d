"""The one writer of a dataset's answers. Knows what is there, and appends what comes."""

from array import array
from collections import Counter
from pathlib import Path
from typing import Self

from pipeline.errors import DataError
from pipeline.folder_lock import FolderLock
from pipeline.responses.appending import AppendFile
from pipeline.responses.failures import FAILURES, read_failures
from pipeline.responses.index import (
    FINISH_REASONS,
    MAGIC,
    NAME,
    UNREADABLE,
    WIDTH,
    Entry,
    PartSizes,
    Position,
    entry_of,
    last_entry,
    part_name,
    read_blocks,
    unreadable,
)
from pipeline.responses.record import Failure, Response, Scope, key_digest
from pipeline.responses.scan import scan_parts

PART_BYTES = 64 * 2**20
"""A part that has reached this size is followed by a new one."""


class ResponseStore:
    """Counts are of one scope: answers of other revisions or samplings lie in the same folder and are left alone."""

    def __init__(self, folder: Path, scope: Scope, *, part_bytes: int = PART_BYTES) -> None:
        """Open for appending. Raises FolderHeldError while another process has it open, DiskFullError.

        What a killed writer left behind is put right first, and told in `warnings`.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.scope = scope
        self.warnings: list[str] = []
        self.lengths = array("I")
        """Completion tokens of each answer."""
        self.finish_reasons: Counter[str] = Counter()
        self._part_bytes = part_bytes
        self._digest = scope.digest
        self._answered: set[bytes] = set()
        self._failed: set[bytes] = set()
        self._lock = FolderLock(folder)
        self._end = PartSizes(folder).start
        self._lines = 0
        """Lines of the current part."""
        self._load()
        self._part = AppendFile(folder / part_name(self._end.part))

    @property
    def answers(self) -> int:
        return len(self.lengths)

    @property
    def tokens(self) -> int:
        """Completion tokens of all answers."""
        return sum(self.lengths)

    @property
    def failures(self) -> int:
        """Prompts that gave no answer."""
        return len(self._failed)

    def answered(self, key: str) -> bool:
        return key_digest(key) in self._answered

    def asked(self, key: str) -> bool:
        """Whether there is an answer, or a reason why there is none."""
        digest = key_digest(key)
        return digest in self._answered or digest in self._failed

    def append(self, response: Response) -> None:
        """Keep an answer. It is there for good when this returns. Raises DiskFullError, and DataError for a second answer."""
        digest = key_digest(response.key)
        if digest in self._answered:
            raise DataError(f"{self.folder}: prompt {response.key} has its answer already")
        if self._part.size >= self._part_bytes:
            self._next_part()
        line = response.to_line()
        offset = self._part.append(line)
        entry = entry_of(response, part=self._end.part, offset=offset, size=len(line))
        self._index.append(entry.packed())
        self._count([entry])

    def append_failure(self, failure: Failure) -> None:
        """Keep the reason why a prompt gave no answer. Raises DiskFullError."""
        self._errors.append(failure.to_line())
        self._failed.add(key_digest(failure.key))

    def close(self) -> None:
        """Let other processes in."""
        for file in (self._part, self._index, self._errors):
            file.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _load(self) -> None:
        known = 0
        if self._index_is_of_these_parts():
            for entries in read_blocks(self.folder):
                self._count(entries)
                known += len(entries)
        self._index = AppendFile(self.folder / NAME)
        found, good = self._index.size, len(MAGIC) + known * WIDTH
        self._index.cut(good if known else 0)
        if not known:
            self._index.append(MAGIC)
        read = self._read_unindexed()
        if read and (not known or found - good >= WIDTH):
            what = f"damaged after {known:,} entries" if found else "missing"
            self.warnings.append(f"{self.folder / NAME} was {what}: {read:,} lines were read again from the parts")
        self._errors = AppendFile(self.folder / FAILURES)
        whole, failed, problems = read_failures(self.folder, self.scope)
        self._errors.cut(whole)
        self._failed = failed - self._answered
        self.warnings += problems

    def _index_is_of_these_parts(self) -> bool:
        """Whether the last line that the index knows is the one that stands there."""
        entry = last_entry(self.folder)
        if entry is None or entry.finish == UNREADABLE:
            return entry is not None
        line = next(scan_parts(self.folder, Position(entry.part, entry.offset)), None)
        return line is not None and line.response is not None and key_digest(line.response.key) == entry.key

    def _read_unindexed(self) -> int:
        """Take up the lines that the index does not know, and cut a torn one."""
        read, last = 0, PartSizes(self.folder).last
        for line in scan_parts(self.folder, self._end, line=self._lines + 1):
            if line.torn and line.part == last:
                with line.path.open("r+b") as file:
                    file.truncate(line.offset)
                self.warnings.append(f"{line.path}, line {line.number}: a torn last line of {line.size:,} bytes was cut off")
                break
            if line.response is None:
                self.warnings.append(f"{line.path}, line {line.number}: {line.problem}; the line is passed over")
                entry = unreadable(part=line.part, offset=line.offset, size=line.size)
            else:
                entry = entry_of(line.response, part=line.part, offset=line.offset, size=line.size)
            self._index.append(entry.packed())
            self._count([entry])
            read += 1
        return read

    def _count(self, entries: list[Entry]) -> None:
        """Take up lines that are on disk, in order."""
        part, lines, ours = self._end.part, self._lines, self._digest
        for key, scope, its_part, finish, _, _, tokens, _ in entries:
            lines = lines + 1 if its_part == part else 1
            part = its_part
            if scope != ours or finish == UNREADABLE:
                continue
            if key in self._answered:
                self.warnings.append(f"{self.folder / part_name(part)}, line {lines}: a second answer; not counted")
                continue
            self._answered.add(key)
            self._failed.discard(key)
            self.lengths.append(tokens)
            self.finish_reasons[FINISH_REASONS[finish]] += 1
        if entries:
            self._end = Position(part, entries[-1].offset + entries[-1].size)
            self._lines = lines

    def _next_part(self) -> None:
        self._part.close()
        self._end = Position(self._end.part + 1, 0)
        self._lines = 0
        self._part = AppendFile(self.folder / part_name(self._end.part))
