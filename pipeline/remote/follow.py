"""Follows one run: the lines of its log as they come, and at its end its exit code."""

import json
import sys
import time
from dataclasses import dataclass, field
from typing import Any

from pipeline.remote.client import NoAnswerError, Remote
from pipeline.remote.show import plain
from pipeline.stage import FAILED, FINISHED, INTERRUPTED

POLL_S = 1.0
PATIENCE_S = 300.0
"""How long a dashboard that does not answer is asked again: the run goes on without it."""
LAST_LINES = 40
CHUNK = 5000
ENDED = frozenset({"finished", "stopped", "failed", "lost"})


def follow(remote: Remote, run_id: int, *, as_json: bool = False, from_start: bool = False) -> int:
    """Write what the run writes until it has ended. With `as_json`, its events instead of its log, one a line.

    The exit code is the stage's own: 0 finished, 3 stopped, else what it failed with. Ctrl-C ends the following only.
    Raises RemoteError; an outage is one only after PATIENCE_S.
    """
    follower = Follower(remote, run_id, as_json=as_json, from_start=from_start)
    silent_since: float | None = None
    while True:
        try:
            code = follower.look()
        except NoAnswerError as error:
            silent_since = silent_since or _say_silent(error)
            if time.monotonic() - silent_since > PATIENCE_S:
                raise
        else:
            silent_since = None
            if code is not None:
                return code
        time.sleep(POLL_S)


def _say_silent(error: NoAnswerError) -> float:
    sys.stderr.write(f"{error}; asking again\n")
    return time.monotonic()


@dataclass
class Follower:
    remote: Remote
    run_id: int
    as_json: bool
    from_start: bool
    _attempt: int = 0
    """Number of the attempt whose lines are written."""
    _after: int = 0
    """The last line, or event, of it that was."""
    _said: str = field(default="")

    def look(self) -> int | None:
        """Write what is new; the exit code once the run has ended."""
        run = self.remote.get(f"/runs/{self.run_id}")
        self._say(f"r{run['id']} {run['stage']} {run['shown']['words']}", run)
        # An attempt that ended while nobody looked is written to its end before the next one.
        for attempt in run["attempts"]:
            if attempt["number"] >= self._attempt:
                self._catch_up(attempt, is_last=attempt is run["attempts"][-1])
        return _code(run) if run["status"] in ENDED else None

    def _say(self, words: str, run: dict[str, Any]) -> None:
        # The words of a live run hold ages, which change every second.
        state = f"{run['shown']['state']} {len(run['attempts'])}"
        if state != self._said:
            sys.stderr.write(f"{plain(words)}\n")
        self._said = state

    def _catch_up(self, attempt: dict[str, Any], *, is_last: bool) -> None:
        if attempt["number"] != self._attempt:
            is_first = self._attempt == 0
            if is_first and not is_last and not self.from_start:
                return
            self._attempt = attempt["number"]
            skips = is_first and not self.from_start and not self.as_json
            self._after = max(0, attempt["log_lines"] - LAST_LINES) if skips else 0
        while self._write_events(attempt["id"]) if self.as_json else self._write_lines(attempt["id"]):
            sys.stdout.flush()

    def _write_lines(self, attempt_id: int) -> bool:
        told = self.remote.get(f"/attempts/{attempt_id}/log", from_line=self._after + 1, limit=CHUNK)
        for line in told["items"]:
            rest = f" … {line['left_out']} bytes more" if line["left_out"] else ""
            sys.stdout.write(f"{plain(line['text'])}{rest}\n")
        self._after = told["next_line"] - 1
        return bool(told["items"])

    def _write_events(self, attempt_id: int) -> bool:
        told = self.remote.get(f"/attempts/{attempt_id}/events", after=self._after, limit=CHUNK)
        for event in told["items"]:
            sys.stdout.write(json.dumps(event | {"attempt": attempt_id}) + "\n")
        self._after = told["next_after"]
        return bool(told["items"])


def _code(run: dict[str, Any]) -> int:
    """The exit code of the run's last process, as a shell would have it."""
    if run["status"] == "finished":
        return FINISHED
    if run["status"] == "stopped":
        return INTERRUPTED
    last = run["attempts"][-1] if run["attempts"] else {}
    if signal := last.get("signal"):
        return 128 + int(signal)
    return int(last.get("exit_code") or FAILED)
