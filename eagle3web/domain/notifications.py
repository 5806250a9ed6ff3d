"""What people are told of, written down in the transaction of what happened: once a channel, however often it is repeated.

Writing is all that a run waits for. Sending is a worker's task (domain.deliveries). Paths of pages are written out: a
supervisor does not load the site's addresses, with all the views behind them, to name one.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from eagle3web.domain.shown import shown_state
from eagle3web.enums import AttemptStatus, NotificationKind, ShownState
from eagle3web.formats import of
from eagle3web.models import Attempt, Checkpoint, Host, Notification, NotificationChannel, Run, Transition
from eagle3web.text import cut, visible
from pipeline.event import Event
from pipeline.events import DatasetFinished

ENDS = {
    AttemptStatus.FINISHED: NotificationKind.FINISHED,
    AttemptStatus.FAILED: NotificationKind.FAILED,
    AttemptStatus.LOST: NotificationKind.LOST,
}
"""Ends that people are told of; a run that somebody stopped is no news to anybody."""
QUIET = frozenset({ShownState.SILENT, ShownState.UNRESPONSIVE})
SILENT_FOR = timedelta(seconds=20)
"""How long a run is silent before anybody is told: a machine that is busy for a moment is no news."""
REASON_LIMIT = 1000
CALLS = re.compile(r"<(?=[!@#])|@(?=everyone|here|channel|all)", re.IGNORECASE)
"""Beginnings of what Slack or Discord would take for a call to all people in a channel."""


@dataclass(frozen=True, kw_only=True)
class Happening:
    """Something that happened to a run. `about` is the same for the same happening, however often it is told."""

    run: Run
    kind: NotificationKind
    about: str
    subject: str
    body: str
    path: str


def tell_of_end(change: Transition) -> int:
    """A run finished, failed or was lost. Call it in the transaction of the change; how many channels are told."""
    kind = next((kind for ended, kind in ENDS.items() if ended == change.new), None)
    if kind is None:
        return 0
    run, attempt = change.run, change.attempt
    name, number = f"r{run.pk} {run.stage}", f" (attempt {attempt.number})" if attempt else ""
    said = "is lost" if kind == NotificationKind.LOST else kind.value
    kept = "" if kind == NotificationKind.FINISHED else "What it wrote is kept; resume it on its page."
    return _write(
        Happening(
            run=run,
            kind=kind,
            about=f"transition {change.pk}",
            subject=f"{name} {said}",
            body=_lines(f"{run.project.name}: {name}{number} {said}.", run.title, cut(change.reason, REASON_LIMIT)[0], kept),
            path=f"/runs/{run.pk}/",
        )
    )


def tell_of_event(attempt: Attempt, event: Event) -> int:
    """A dataset met its budget. Call it in the transaction that stores the event; how many channels are told."""
    if not isinstance(event, DatasetFinished) or event.reason != "budget_met":
        return 0
    run = attempt.run
    done, wanted = of(event.tokens, event.budget)
    return _write(
        Happening(
            run=run,
            kind=NotificationKind.BUDGET_MET,
            about=f"run {run.pk} {event.dataset} {event.budget}"[:120],
            subject=f"{event.dataset}: budget met, {done} of {wanted} tokens",
            body=_lines(f"{run.project.name}: r{run.pk} has {done} of {wanted} tokens for {event.dataset}."),
            path=f"/runs/{run.pk}/",
        )
    )


def tell_of_checkpoint(checkpoint: Checkpoint) -> int:
    """A checkpoint was saved: told where it decodes further than every other one of its project. How many channels are told."""
    length = _accept_length(checkpoint.metrics)
    if length is None:
        return 0
    others = Checkpoint.objects.filter(project=checkpoint.project_id).exclude(pk=checkpoint.pk)
    best = max((found for row in others.values_list("metrics", flat=True) if (found := _accept_length(row))), default=None)
    if best is not None and best >= length:
        return 0
    before = "the first one that was decoded" if best is None else f"the best before was {best:.2f}"
    run = checkpoint.run
    return _write(
        Happening(
            run=run,
            kind=NotificationKind.BEST_CHECKPOINT,
            about=f"checkpoint {checkpoint.pk}",
            subject=f"{checkpoint}: accept length {length:.2f}, the best so far",
            body=_lines(f"{run.project.name}: {checkpoint} decodes with an accept length of {length:.2f}; {before}."),
            path=f"/checkpoints/{checkpoint.pk}/",
        )
    )


def tell_of_silence(now: datetime) -> int:
    """Look for live attempts that were not heard of for SILENT_FOR; how many channels are told. Two queries while all is well.

    A host that could not report itself all that time does not judge: the database was away, for others as well.
    """
    told = 0
    if not Host.objects.filter(name=settings.EAGLE3_HOST, steady_since__lt=now - SILENT_FOR).exists():
        return told
    live = Attempt.objects.filter(status__in=AttemptStatus.LIVE).defer("config", "versions").select_related("run__project")
    for attempt in live:
        shown = shown_state(attempt, now)
        age = shown.heartbeat_age if shown.state == ShownState.UNRESPONSIVE else shown.alive_age
        if shown.state not in QUIET or age is None or age < SILENT_FOR.total_seconds():
            continue
        last = attempt.heartbeat_at if shown.state == ShownState.UNRESPONSIVE else attempt.tick_at
        name = f"r{attempt.run_id} {attempt.run.stage}"
        told += _write(
            Happening(
                run=attempt.run,
                kind=NotificationKind.SILENT,
                about=f"attempt {attempt.pk} {last:%Y%m%dT%H%M%S}" if last else f"attempt {attempt.pk}",
                subject=f"{name} is {shown.state}",
                body=_lines(f"{attempt.run.project.name}: {name} on {attempt.host}: {shown.words}.", "What is written stays."),
                path=f"/runs/{attempt.run_id}/attempts/{attempt.number}/",
            )
        )
    return told


def _write(happening: Happening) -> int:
    """One row for each channel that wants to know. Rows that are there already stay, and are not sent again."""
    rows = [
        Notification(
            channel=channel,
            kind=happening.kind,
            about=happening.about,
            subject=visible(happening.subject).replace("\n", " ")[:200],
            body=happening.body,
            path=happening.path,
        )
        for channel in _listeners(happening)
    ]
    Notification.objects.bulk_create(rows, ignore_conflicts=True)
    return len(rows)


def _listeners(happening: Happening) -> Iterable[NotificationChannel]:
    """Channels that are on and want this kind, of this project and this person's run. Two queries; none wants: one."""
    run = happening.run
    for channel in NotificationChannel.objects.filter(enabled=True, user__is_active=True).prefetch_related("projects"):
        wanted = not channel.kinds or happening.kind in channel.kinds
        projects = {project.pk for project in channel.projects.all()}
        mine = not channel.own_runs_only or run.author_id == channel.user_id
        if wanted and mine and (not projects or run.project_id in projects):
            yield channel


def _accept_length(metrics: object) -> float | None:
    found = metrics.get("accept_length") if isinstance(metrics, dict) else None
    return float(found) if isinstance(found, (int, float)) and not isinstance(found, bool) else None


def _lines(*parts: str) -> str:
    """Untrusted text, made fit for chats: nothing in it is unseen, and nothing calls everybody."""
    return CALLS.sub(lambda found: f"{found[0]} ", "\n".join(visible(part).strip() for part in parts if part.strip()))
