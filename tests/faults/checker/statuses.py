"""Whether statuses, leases and their history agree with one another."""

from collections import Counter
from collections.abc import Iterator

from tests.faults.checker.processes import LIVE
from tests.faults.checker.rows import Row, Rows

TERMINAL = ("finished", "stopped", "failed", "lost")


def contradictions(rows: Rows) -> Iterator[str]:
    yield from _runs(rows)
    yield from _leases(rows)
    yield from _history(rows)
    for attempt in rows.attempts:
        if attempt["reason"].startswith("crashed"):
            yield f"attempt {attempt['id']} ended without a word of its own: {attempt['reason']}"


def _runs(rows: Rows) -> Iterator[str]:
    """A run is what its last attempt is, or queued for the next one; only one attempt lives at a time."""
    for run in rows.runs:
        attempts = sorted((row for row in rows.attempts if row["run_id"] == run["id"]), key=lambda row: int(row["number"]))
        if [row["number"] for row in attempts] != list(range(1, len(attempts) + 1)):
            yield f"r{run['id']} has attempts {[row['number'] for row in attempts]}"
        if sum(row["status"] in LIVE for row in attempts) > 1:
            yield f"r{run['id']} has several living attempts"
        last = attempts[-1]["status"] if attempts else "queued"
        possible = {last, "queued"} if last in TERMINAL else {last}
        if run["status"] not in possible and attempts:
            yield f"r{run['id']} is {run['status']}, its last attempt is {last}"


def _leases(rows: Rows) -> Iterator[str]:
    by_id = {row["id"]: row for row in rows.attempts}
    for lease in rows.leases:
        holder = by_id.get(lease["attempt_id"])
        if holder is None or holder["status"] not in LIVE:
            yield f"{lease['device']} is leased to attempt {lease['attempt_id']}, which is {holder and holder['status']}"
    for device, count in Counter(lease["device"] for lease in rows.leases).items():
        if count > 1:
            yield f"{device} is leased {count} times"
    stages = {run["id"]: run for run in rows.runs}
    held = Counter(lease["attempt_id"] for lease in rows.leases)
    for attempt in rows.attempts:
        needs = _needs(stages[attempt["run_id"]])
        if attempt["status"] in LIVE and held[attempt["id"]] != needs:
            yield f"attempt {attempt['id']} lives and holds {held[attempt['id']]} leases instead of {needs}"


def _needs(run: Row) -> int:
    """A generation holds its project's answers, and every run its devices."""
    return len(run["devices"]) + int(run["stage"] == "generate")


def _history(rows: Rows) -> Iterator[str]:
    """Each change begins where the one before ended, and an attempt ends once."""
    now = {run["id"]: "" for run in rows.runs}
    ends: Counter[int] = Counter()
    for change in rows.transitions:
        if now[change["run_id"]] != change["old"]:
            yield f"r{change['run_id']} went from {change['old']!r} to {change['new']}, and was {now[change['run_id']]!r}"
        now[change["run_id"]] = change["new"]
        if change["attempt_id"] and change["new"] in TERMINAL:
            ends[change["attempt_id"]] += 1
    for run in rows.runs:
        if now[run["id"]] != run["status"]:
            yield f"r{run['id']} is {run['status']}, its history says {now[run['id']]}"
    for attempt in rows.attempts:
        if ends[attempt["id"]] != (attempt["status"] in TERMINAL):
            yield f"attempt {attempt['id']} is {attempt['status']} and ended {ends[attempt['id']]} times"
