"""One verb for several runs: each is changed by itself, and one that refuses does not keep the others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.core.exceptions import ValidationError

from eagle3web.domain import labels, runs
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.models import Project, Run, User

MOST = 200
"""Runs that one act takes."""


@dataclass(kw_only=True)
class Stopped:
    """What became of each run that was to be stopped."""

    asked: list[Run] = field(default_factory=list)
    already: list[Run] = field(default_factory=list)
    """Asked before, and on their way."""
    ended: list[Run] = field(default_factory=list)
    """Not live any more: nothing to stop."""


def stop(chosen: Iterable[Run], *, user: User | None) -> Stopped:
    """Ask every live one of the runs to stop; see runs.request_stop for what follows."""
    found = Stopped()
    for run in chosen:
        try:
            (found.asked if runs.request_stop(run, user=user) else found.already).append(run)
        except NotAllowedNow:
            found.ended.append(run)
    return found


def tag(
    chosen: Iterable[Run], *, add: Sequence[str] = (), remove: Sequence[str] = (), user: User | None
) -> tuple[int, list[Run]]:
    """Add and remove tags; how many runs changed, and those without room for more. Raises ValidationError for no tag."""
    labels.sound([*add, *remove])
    changed, full = 0, []
    for run in chosen:
        try:
            changed += labels.change_tags(run, add=add, remove=remove, user=user)
        except ValidationError:
            full.append(run)
    return changed, full


def chosen_runs(project: Project, text: str) -> list[Run]:
    """The project's runs among `3,17,21`, the newest first; what is no number or no run of the project is passed over."""
    numbers = {int(word) for word in text.split(",") if word.isascii() and word.isdigit() and len(word) < 16}
    return list(Run.objects.filter(project=project, pk__in=sorted(numbers)[:MOST]).order_by("-pk"))
