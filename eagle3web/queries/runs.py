"""Runs, their attempts, and what these said."""

from collections.abc import Iterable

from eagle3web.models import Attempt, ControlMessage, DatasetProgress, Event, Run, TokenBudget, Transition

TIMELINE = 200
"""Newest entries of each kind that a timeline shows at first."""


def find_run(run_id: int) -> Run:
    """A run with its project and people. Raises Run.DoesNotExist. One query."""
    return Run.objects.select_related("project", "author", "cloned_from", "stop_requested_by").get(pk=run_id)


def attempts_of(run_id: int) -> list[Attempt]:
    """All attempts, the newest first, without what only one page needs. One query."""
    return list(Attempt.objects.filter(run=run_id).defer("config", "versions").order_by("-number"))


def datasets_of(attempt_id: int) -> list[DatasetProgress]:
    """One row for each dataset, in the order of the run. One query."""
    return list(DatasetProgress.objects.filter(attempt=attempt_id))


def asked_budgets(project_id: int) -> dict[str, TokenBudget]:
    """Dataset → the budget that people want by now, whatever a process has heard of it. One query."""
    return {budget.dataset.slug: budget for budget in TokenBudget.objects.filter(project=project_id).select_related("dataset")}


def events_of(attempt_id: int, *, hidden: Iterable[str]) -> list[Event]:
    """The newest events, newest first, kinds that this version does not know included; not those in `hidden`. One query."""
    rows = Event.objects.filter(attempt=attempt_id).exclude(kind__in=list(hidden))
    return list(rows.order_by("-seq")[:TIMELINE])


def controls_of(attempt_id: int) -> list[ControlMessage]:
    """What people asked, newest first. One query."""
    return list(ControlMessage.objects.filter(attempt=attempt_id).select_related("author").order_by("-id")[:TIMELINE])


def ends_of(attempt_id: int) -> list[Transition]:
    """How the attempt ended. One query."""
    return list(Transition.objects.filter(attempt=attempt_id, new__in=["lost", "failed", "stopped"]).order_by("-id")[:5])
