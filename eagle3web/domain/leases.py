"""Who holds what alone: a device of a host, or a store that one process writes. A row is the lease; the database says no."""

from django.conf import settings
from django.db import IntegrityError, transaction

from eagle3web.enums import Stage
from eagle3web.models import Attempt, Lease, Run

Thing = tuple[str, str]
"""(host, device); the host is empty for what all hosts share."""


def needed(run: Run) -> list[Thing]:
    """What an attempt of this run on this host must hold while it lives."""
    things = [(settings.EAGLE3_HOST, str(device)) for device in run.devices]
    if run.stage == Stage.GENERATE:
        # Two generators with one store of responses would answer the same prompts twice.
        things.append(("", f"responses/{run.project.slug}"))
    return things


def take(attempt: Attempt, things: list[Thing]) -> bool:
    """Take all or nothing; False when somebody holds one of them. `attempts.mark` gives them back."""
    try:
        with transaction.atomic():
            for host, device in things:
                Lease.objects.create(host=host, device=device, attempt=attempt)
    except IntegrityError:
        return False
    return True


def holder(run: Run) -> Lease | None:
    """A lease that keeps a queued run waiting, to be named on the screen."""
    held = (Lease.objects.filter(host=host, device=device).select_related("attempt").first() for host, device in needed(run))
    return next((lease for lease in held if lease is not None), None)
