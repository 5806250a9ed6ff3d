"""Reads a file of prompts: every good row as a conversation, every other row named in the report."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.datasets.containers.compression import DamagedFileError, Progress
from pipeline.datasets.containers.rows import RawRow
from pipeline.datasets.containers.source import read_rows
from pipeline.datasets.conversation import Conversation
from pipeline.datasets.formats.registry import label_of, normalise
from pipeline.datasets.keys import KeySet
from pipeline.datasets.report import Problem, RowError, ValidationReport


def read_conversations(
    path: Path,
    report: ValidationReport,
    *,
    name: str = "",
    vocab_size: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Conversation]:
    """Yield the prompts of a file in order, and fill the report on the way; it is complete when the iterator is used up.

    `name` is the file's name in the report, where it lies under another one. `vocab_size` bounds ids of pre-tokenized rows.
    Memory does not grow with the file, but for eight to sixteen bytes a row. Raises OSError when it cannot be read.
    """
    rows = read_rows(path, name=name, progress=progress)
    yield from conversations_of(rows, report, file=name or path.name, vocab_size=vocab_size)


def conversations_of(
    rows: Iterable[RawRow], report: ValidationReport, *, file: str, vocab_size: int | None = None
) -> Iterator[Conversation]:
    """The same for rows that are at hand."""
    reader = _Reader(report, file, vocab_size)
    last: RawRow | None = None
    try:
        for row in rows:
            last = row
            if (conversation := reader.take(row)) is not None:
                yield conversation
    except DamagedFileError as error:
        index = last.index + 1 if last else 0
        line = last.line + 1 if last and last.line else None
        report.reject(Problem(file=file, line=line, index=index, id=None, reason=str(error)))
    if not report.accepted:
        report.error = "no valid row" if report.rejected else "the file is empty"


@dataclass
class _Reader:
    report: ValidationReport
    file: str
    vocab_size: int | None

    def __post_init__(self) -> None:
        self._seen = KeySet()

    def take(self, row: RawRow) -> Conversation | None:
        """The row's conversation; None when it is refused, with the reason in the report."""
        try:
            if row.error is not None:
                raise row.error
            conversation, form, warnings = normalise(row.value, vocab_size=self.vocab_size)
            # The key is a hash of label and content, so rows that share a label and differ in content get different keys.
            if not self._seen.add(conversation.key):
                raise RowError("duplicate", "the same id and prompt as an earlier row")
        except RowError as error:
            self.report.reject(self._problem(row, error.reason, error.detail))
            return None
        if form == "pretokenized" and self.vocab_size is None and not self.report.formats[form]:
            warnings.append("vocabulary size unknown: token ids are only checked against the largest possible one")
        self.report.accepted += 1
        self.report.formats[form] += 1
        for warning in warnings:
            self.report.warn(self._problem(row, warning))
        return conversation

    def _problem(self, row: RawRow, reason: str, detail: str = "") -> Problem:
        label = label_of(row.value)
        shown = None if label is None else label.encode(errors="backslashreplace").decode().replace("\0", "\\0")
        return Problem(file=self.file, line=row.line, index=row.index, id=shown, reason=reason, detail=detail[:500])
