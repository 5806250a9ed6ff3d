"""What needs somebody: each with what happened, what is kept, and where to go."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter

from django.conf import settings
from django.urls import reverse

from eagle3web.domain.health import WORKER_LOST_S
from eagle3web.domain.placement import Spot, pick
from eagle3web.enums import EngineState, ShownState
from eagle3web.formats import count, percent, size, tokens
from eagle3web.models import Attempt, Checkpoint, DatasetProgress, DatasetRevision, Engine, Host, Run
from eagle3web.pages.clocks import Clocks
from eagle3web.pages.datasets_of_run import totals
from eagle3web.pages.stages.extraction import extracted
from eagle3web.pages.stages.standing import standing_line
from eagle3web.queries.erring import ERROR_SHARE, FEW_ANSWERS
from eagle3web.text import cut, visible

NAMED = 3
"""Datasets that are named in one line."""
DISK_SHARE = 0.1
"""Free disk below this share of the whole."""


@dataclass(frozen=True, kw_only=True)
class Need:
    state: str
    head: str
    href: str
    act: str
    """The button."""
    note: str = ""
    since: datetime | None = None
    """Written after the head, as an age that ticks."""
    icon: str = ""
    of_run: bool = False
    """It is a run that needs somebody: the browser's tab shows it, whatever page is open."""


def of_live(attempts: Iterable[tuple[Attempt, Clocks]]) -> Iterator[Need]:
    """Attempts at work that are not heard of, and those whose errors rise."""
    for attempt, clocks in attempts:
        name = f"r{attempt.run_id} {attempt.run.stage}"
        place = reverse("attempt", args=[attempt.run_id, attempt.number])
        if clocks.state == ShownState.SILENT:
            note = "Its process exists, its loop does not turn. What is written stays."
            head = f"{name} is silent for"
            yield Need(state="silent", head=head, since=clocks.alive_since, note=note, href=place, act="Look", of_run=True)
        elif clocks.state == ShownState.UNRESPONSIVE:
            note = f"Nothing is heard from {attempt.host}. It is marked lost after {settings.EAGLE3_LOST_AFTER:.0f} s."
            yield Need(
                state="unresponsive",
                head=f"{name} is unresponsive for",
                since=clocks.alive_since,
                note=note,
                href=place,
                act="Look",
                of_run=True,
            )
        # A run that retries errors begins with those of before, and counts them down.
        for row in () if attempt.run.config.get("retry_errors") else attempt.datasets.all():
            asked = row.done + row.errors
            if asked >= FEW_ANSWERS and row.errors / asked > ERROR_SHARE:
                head = f"{row.dataset}: {percent(row.errors / asked)} errors"
                note = f"{count(row.errors)} of {count(asked)} requests of {name} failed; they are recorded, the run goes on."
                yield Need(state="failed", head=head, note=note, href=place, act="Look", of_run=True)


def of_extractions(attempts: Iterable[tuple[Attempt, Clocks]]) -> Iterator[Need]:
    """Extractions whose states do not give the answers back: what is trained on them would learn something else."""
    for attempt, _clocks in attempts:
        found = extracted(attempt, forecast=False)
        if found is not None and found.disagrees:
            yield Need(
                state="silent",
                head=f"r{attempt.run_id} extract: {percent(found.agreement)} of tokens are reproduced",
                note="Another target, chat template or dtype than the answers came from? The run goes on.",
                href=reverse("attempt", args=[attempt.run_id, attempt.number]),
                act="Look",
                of_run=True,
            )


def of_broken(attempts: Iterable[Attempt]) -> Iterator[Need]:
    """Runs whose last attempt failed or was lost."""
    for attempt in attempts:
        now = totals(list(attempt.datasets.all()), forecast=False)
        kept = f" {count(now.answers)} answers, {tokens(now.on_disk)} tokens are kept." if now.answers else ""
        if standing := standing_line(attempt, attempt.run.stage, forecast=False):
            kept = f" It had come to {standing.words}."
        yield Need(
            state=attempt.status,
            head=f"r{attempt.run_id} {attempt.run.stage}, attempt {attempt.number} {_ended(attempt)}",
            note=f"{cut(visible(attempt.reason), 200)[0]}.{kept}" if attempt.reason else kept.strip(),
            href=reverse("run", args=[attempt.run_id]),
            act="Resume",
            of_run=True,
        )


def of_erring(rows: Iterable[DatasetProgress]) -> Iterator[Need]:
    """Runs that ended as they were meant to, and of which too many prompts gave an error; rows of one run stand together."""
    for attempt, datasets in groupby(rows, key=attrgetter("attempt")):
        said = [f"{visible(row.dataset)} ({count(row.errors)} of {count(row.done + row.errors)})" for row in datasets]
        more = f" and {count(len(said) - NAMED)} more datasets" if len(said) > NAMED else ""
        yield Need(
            state="failed",
            head=f"r{attempt.run_id} {attempt.run.stage} {attempt.status} with errors",
            note=f"No answer came to prompts of {', '.join(said[:NAMED])}{more}. A run that retries errors asks them again.",
            href=reverse("run", args=[attempt.run_id]),
            act="Look",
            of_run=True,
        )


def _ended(attempt: Attempt) -> str:
    return "failed" if attempt.status == "failed" else "is lost"


def of_queue(runs: Iterable[Run], hosts: Iterable[Host], now: datetime) -> Iterator[Need]:
    """Queued runs that no host starts, however free it becomes: nobody is there, or not one with what they ask for."""
    heard = [host for host in hosts if host.seen_at is not None and (now - host.seen_at).total_seconds() <= WORKER_LOST_S]
    for run in runs:
        if note := _unplaceable(run, heard):
            yield Need(
                state="silent", icon="st-queued", head=f"r{run.pk} {run.stage} is queued for", since=run.queued_at, note=note,
                href=reverse("run", args=[run.pk]), act="Look", of_run=True,
            )  # fmt: skip


def _unplaceable(run: Run, heard: list[Host]) -> str:
    """Why no host that is heard would ever start the run; nothing where one would, once its devices are free."""
    if not heard:
        return "No worker is heard of. Start one on a GPU host."
    named = [host for host in heard if run.host in ("", host.name)]
    if not named:
        return f"It is for {visible(run.host)}, which is not heard."
    tagged = [host for host in named if set(run.host_tags) <= set(host.tags)]
    if not tagged:
        return f"It asks for the tags {visible(', '.join(run.host_tags))}, and no host that is heard has them all."
    found = [(host, pick(run.devices, Spot(host, heard=True), only_here=bool(run.host))[1]) for host in tagged]
    if all(why for _, why in found):
        return f"No host has the devices that it asks for: {visible(found[0][0].name)} {found[0][1]}."
    if all(host.drained_at is not None for host, why in found if not why):
        return "Every host that could take it is drained. Take work again on one, and it can begin."
    return ""


def of_engines(engines: Iterable[Engine]) -> Iterator[Need]:
    for engine in engines:
        if engine.state not in (EngineState.DOWN, EngineState.HANGING):
            continue
        down = engine.state == EngineState.DOWN
        yield Need(
            state="failed" if down else "silent",
            icon="engines",
            head=f"{engine.name} {'does not answer' if down else 'answers, but generates nothing'} for",
            since=engine.state_since or engine.checked_at,
            note=visible(engine.reason),
            href=reverse("engines"),
            act="Engines",
        )


def of_hosts(hosts: Iterable[Host]) -> Iterator[Need]:
    for host in hosts:
        free, total = host.sample.get("disk_free"), host.sample.get("disk_total")
        if free is not None and total and free / total < DISK_SHARE:
            head = f"Disk on {host.name} is {percent(1 - free / total)} full"
            note = f"{size(free)} of {size(total)} free. A run that finds no room fails, and keeps what it wrote."
            yield Need(state="silent", icon="disk", head=head, note=note, href=reverse("host", args=[host.name]), act="Host")


def of_reviews(proposed: Iterable[Checkpoint]) -> Iterator[Need]:
    """Checkpoints that somebody proposed, and nobody judged yet."""
    for checkpoint in proposed:
        yield Need(
            state="queued",
            icon="checkpoints",
            head=f"{checkpoint} is proposed",
            note="Somebody else than who proposed it approves or rejects it.",
            href=reverse("checkpoint", args=[checkpoint.pk]),
            act="Review",
        )


def of_imports(revisions: Iterable[DatasetRevision]) -> Iterator[Need]:
    for revision in revisions:
        yield Need(
            state="failed", icon="datasets", head=f"The import of {revision.dataset.slug} failed",
            note=cut(visible(revision.error), 200)[0], href=reverse("dataset", args=[revision.dataset.slug]), act="Report",
        )  # fmt: skip
