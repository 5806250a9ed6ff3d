"""What validation found: every refused row by file, line, id and reason."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

from pipeline.errors import DataError

KEPT_PROBLEMS = 1000
"""Rejections and warnings that are listed; all are counted."""


class RowError(DataError):
    """One row cannot be used. The rows around it are kept."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        """The kind of fault, the same words for each row that has it."""
        self.detail = detail
        """What was met, for a person who looks for it in the file."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A row that was refused, or accepted with a change that a person should know of."""

    file: str
    line: int | None
    """Line where the row begins, from 1; None in Parquet."""
    index: int | None
    """Position of the row among the rows, from 0."""
    id: str | None
    """The row's own label, cut to 200 characters."""
    reason: str
    detail: str = ""


@dataclass(kw_only=True)
class ValidationReport:
    """Counts of one file, filled while it is read."""

    accepted: int = 0
    rejected: int = 0
    warned: int = 0
    rejections: list[Problem] = field(default_factory=list)
    """The first 1,000."""
    warnings: list[Problem] = field(default_factory=list)
    """The first 1,000."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Reason → rows refused for it."""
    formats: Counter[str] = field(default_factory=Counter)
    """Format → rows accepted in it."""
    error: str = ""
    """Why nothing can be used, when nothing can."""

    def reject(self, problem: Problem) -> None:
        self.rejected += 1
        self.reasons[problem.reason] += 1
        if len(self.rejections) < KEPT_PROBLEMS:
            self.rejections.append(problem)

    def warn(self, problem: Problem) -> None:
        self.warned += 1
        if len(self.warnings) < KEPT_PROBLEMS:
            self.warnings.append(problem)

    def to_json(self, *, keep: int = KEPT_PROBLEMS) -> dict[str, Any]:
        """JSON form with the first `keep` rejections and warnings; `error` is left out when there is none."""
        body: dict[str, Any] = {
            "accepted": self.accepted,
            "rejected": self.rejected,
            "rejections": [asdict(problem) for problem in self.rejections[:keep]],
            "reasons": dict(self.reasons.most_common()),
            "warned": self.warned,
            "warnings": [asdict(problem) for problem in self.warnings[:keep]],
            "formats": dict(self.formats),
        }
        return body | ({"error": self.error} if self.error else {})
