"""What became of a stage: its exit and its own last word, compared. Pure.

An exit code alone is not believed, nor is a last word: only together do they make `finished`.
"""

from dataclasses import dataclass

from eagle3web.enums import AttemptStatus
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted

EXIT_FINISHED = 0
EXIT_INTERRUPTED = 3


@dataclass(frozen=True, kw_only=True)
class Exit:
    """How a process ended: with a code or by a signal."""

    code: int | None = None
    signal: int | None = None
    hint: str = ""
    """What else was seen, such as a full disk or the last line of the log."""
    disk_full: bool = False
    """Whether the hint speaks of a full disk: then there was no room for a last word either."""

    @classmethod
    def from_returncode(cls, returncode: int, *, hint: str = "", disk_full: bool = False) -> "Exit":
        """From subprocess's number, which is negative for a signal."""
        code, signal = (None, -returncode) if returncode < 0 else (returncode, None)
        return cls(code=code, signal=signal, hint=hint, disk_full=disk_full)

    @property
    def words(self) -> str:
        said = f"killed by signal {self.signal}" if self.signal is not None else f"exit code {self.code}"
        return f"{said} ({self.hint})" if self.hint else said


@dataclass(frozen=True, kw_only=True)
class Verdict:
    status: AttemptStatus
    reason: str
    """Empty for a finished attempt."""


def judge(ended: Exit, last: Event | None, *, stop_reason: str = "") -> Verdict:
    """Judge an exit that the supervisor saw. `stop_reason` says who asked for a stop (`stopped by ada`), if anybody did."""
    match last:
        case StageFailed():
            return Verdict(status=AttemptStatus.FAILED, reason=f"failed: {last.reason}")
        case StageFinished() if ended.code == EXIT_FINISHED:
            return Verdict(status=AttemptStatus.FINISHED, reason="")
        case StageFinished():
            # The work was done and said to be; what went wrong afterwards must not be hidden.
            return Verdict(status=AttemptStatus.FAILED, reason=f"{ended.words} after it had said that it finished")
        case StageInterrupted() if ended.code == EXIT_INTERRUPTED or stop_reason:
            return Verdict(status=AttemptStatus.STOPPED, reason=stop_reason or last.reason or "stopped")
    if stop_reason:
        return Verdict(status=AttemptStatus.STOPPED, reason=f"{stop_reason}; it did not save by itself: {ended.words}")
    if ended.signal is not None:
        return Verdict(status=AttemptStatus.FAILED, reason=ended.words)
    if ended.code == EXIT_FINISHED:
        return Verdict(status=AttemptStatus.FAILED, reason="crashed: it ended without saying that it finished (exit code 0)")
    if ended.disk_full:
        return Verdict(status=AttemptStatus.FAILED, reason=f"failed: {ended.hint}")
    return Verdict(status=AttemptStatus.FAILED, reason=f"crashed: {ended.words}")


def judge_unseen(last: Event | None, *, reason: str, published: bool = True) -> Verdict:
    """Judge an attempt whose supervisor did not see the end: only the stage's own last word tells; without one it is lost.

    So is one that finished and whose results, not `published`, no other host can read: to resume it publishes them.
    """
    match last:
        case StageFinished() if not published:
            return Verdict(status=AttemptStatus.LOST, reason=f"{reason}; it had finished and not published its results yet")
        case StageFinished():
            return Verdict(status=AttemptStatus.FINISHED, reason="")
        case StageFailed():
            return Verdict(status=AttemptStatus.FAILED, reason=f"failed: {last.reason}")
        case StageInterrupted() if last.reason != "the supervisor is gone":
            return Verdict(status=AttemptStatus.STOPPED, reason=last.reason or "stopped")
    return Verdict(status=AttemptStatus.LOST, reason=reason)
