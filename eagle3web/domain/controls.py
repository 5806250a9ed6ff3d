"""What people ask of a live attempt: a row is the message, the supervisor hands it over, the stage's event acknowledges it."""

from dataclasses import asdict
from datetime import datetime

from django.db.models import QuerySet

from eagle3web.domain.attempts import live_attempt
from eagle3web.enums import AttemptStatus, Stage
from eagle3web.models import Attempt, ControlMessage, Project, Run, User
from pipeline.control import Control, Pause, Resume, SetBudget, SetConcurrency, Stop, SwapDrafter
from pipeline.event import Event
from pipeline.events import BudgetApplied, ConcurrencyApplied, StageInterrupted, StatusChanged
from pipeline.server_events import DrafterSwapped


def send(run: Run, control: Control, *, user: User | None) -> ControlMessage | None:
    """Leave a message for the run's live attempt; None when there is none, since nobody would read it."""
    attempt = live_attempt(run)
    return None if attempt is None else leave(attempt, control, user=user)


def send_budget(
    project: Project,
    dataset_slug: str,
    tokens: int | None,
    max_samples: int | None,
    enabled: bool,
    version: int,
    user: User | None,
) -> list[ControlMessage]:
    """Tell every live generation attempt of the project that works on this dataset about its new budget."""
    control = SetBudget(dataset=dataset_slug, tokens=tokens, max_samples=max_samples, enabled=enabled, version=version)
    concerned = Attempt.objects.filter(
        run__project=project, run__stage=Stage.GENERATE, status__in=AttemptStatus.LIVE, datasets__dataset=dataset_slug
    )
    return [leave(attempt, control, user=user) for attempt in concerned]


def leave(attempt: Attempt, control: Control, *, user: User | None) -> ControlMessage:
    return ControlMessage.objects.create(attempt=attempt, kind=control.kind, payload=asdict(control), author=user)


def acknowledge(attempt: Attempt, event: Event, *, at: datetime) -> None:
    """Mark the messages that this event of the stage answers."""
    answered = _answered(attempt.controls.filter(acknowledged_at=None), event)
    if answered is not None:
        answered.update(acknowledged_at=at)


def _answered(waiting: QuerySet[ControlMessage], event: Event) -> QuerySet[ControlMessage] | None:
    match event:
        case BudgetApplied():
            # A newer version answers the older ones too: the stage goes straight to what is wanted now.
            return waiting.filter(
                kind=SetBudget.kind, payload__dataset=event.dataset, payload__version__lte=event.budget_version
            )
        case ConcurrencyApplied():
            same = waiting.filter(kind=SetConcurrency.kind, payload__n=event.concurrency).order_by("id").last()
            return None if same is None else waiting.filter(kind=SetConcurrency.kind, id__lte=same.pk)
        case DrafterSwapped():
            # The newest wish is obeyed, and answers the older ones.
            same = waiting.filter(kind=SwapDrafter.kind, payload__drafter=event.drafter).order_by("id").last()
            return None if same is None else waiting.filter(kind=SwapDrafter.kind, id__lte=same.pk)
        case StatusChanged():
            return waiting.filter(kind=Pause.kind if event.paused else Resume.kind).exclude(delivered_at=None)
        case StageInterrupted():
            return waiting.filter(kind=Stop.kind)
    return None
