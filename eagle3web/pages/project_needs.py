"""Everything that needs somebody in one project, for its overview and for the bell that is on every page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from eagle3web.domain import lineage
from eagle3web.models import Attempt, Engine, Host, Run
from eagle3web.pages import needs
from eagle3web.pages.clocks import Clocks, clocks, next_change
from eagle3web.pages.needs import Need
from eagle3web.queries import checkpoints, erring, overview

RED = frozenset({"failed", "lost"})


@dataclass(frozen=True)
class Trouble:
    """What the bell says: how many things there are, and how bad the worst of the project's runs is."""

    count: int
    runs: int
    """Of these, runs: they are what the browser's tab shows."""
    state: str
    """failed (red), silent (amber), or nothing."""


def collect(
    project_id: int,
    live: Sequence[tuple[Attempt, Clocks]],
    queued: Iterable[Run],
    engines: Iterable[Engine],
    hosts: Sequence[Host],
    now: datetime,
) -> list[Need]:
    """The worst first, of what was read already; four queries more."""
    return list(
        chain(
            needs.of_live(live),
            needs.of_extractions(live),
            needs.of_broken(overview.broken_attempts(project_id, now)),
            needs.of_erring(erring.unasked_since(project_id, now - overview.RECENT)),
            needs.of_queue(queued, hosts, now),
            needs.of_engines(engines),
            needs.of_hosts(hosts),
            needs.of_reviews(checkpoints.proposed(project_id)),
            needs.of_imports(overview.failed_imports(now)),
        )
    )


def needs_of(project_id: int, now: datetime) -> tuple[list[Need], datetime | None]:
    """What needs somebody, and when the clocks alone will change that. About ten queries."""
    attempts = overview.live_attempts(project_id)
    live = [(attempt, clocks(attempt, now)) for attempt in attempts]
    queued = overview.queued_runs(project_id)
    held = lineage.held(queued)
    free = [run for run in queued if run.pk not in held]
    found = collect(project_id, live, free, overview.engines(now), overview.hosts(), now)
    return found, next_change(attempts, now)


def trouble(found: Sequence[Need]) -> Trouble:
    of_runs = [need for need in found if need.of_run]
    state = "" if not of_runs else "failed" if any(need.state in RED for need in of_runs) else "silent"
    return Trouble(count=len(found), runs=len(of_runs), state=state)
