"""Who holds what alone: a device of a host, or a store that one process writes. A row is the lease; the database says no."""

from collections.abc import Iterable

from django.conf import settings
from django.db import IntegrityError, transaction

from eagle3web.enums import Stage
from eagle3web.models import Attempt, Lease, Run

Thing = tuple[str, str]
"""(host, device); the host is empty for what all hosts share."""


def needed(run: Run, devices: Iterable[str]) -> list[Thing]:
    """What an attempt of this run on this host must hold while it lives; `devices` are those that it was given."""
    return [*((settings.EAGLE3_HOST, device) for device in devices), *shared(run)]


def shared(run: Run) -> list[Thing]:
    """What of it all hosts share."""
    # Two generators with one store of responses would answer the same prompts twice.
    return [("", f"responses/{run.project.slug}")] if run.stage == Stage.GENERATE else []


def take(attempt: Attempt, things: list[Thing]) -> bool:
    """Take all or nothing; False when somebody holds one of them. `attempts.mark` gives them back."""
    try:
        with transaction.atomic():
            for host, device in things:
                Lease.objects.create(host=host, device=device, attempt=attempt)
    except IntegrityError:
        return False
    return True


def holders(runs: Iterable[Run]) -> dict[int, Lease]:
    """Run → a lease of what all hosts share that it needs, too, to be named on the screen. One query."""
    needs = {run.pk: {device for _, device in shared(run)} for run in runs}
    held = Lease.objects.filter(host="", device__in=set().union(*needs.values())).select_related("attempt")
    leases = list(held.defer("attempt__config", "attempt__argv", "attempt__versions"))
    return {pk: lease for pk, devices in needs.items() for lease in leases if lease.device in devices}
