"""Runs that a person marks for herself. Marks concern nobody else, so the audit trail does not speak of them."""

from eagle3web.models import Run, Star, User


def star(run: Run, *, user: User) -> bool:
    """Mark the run. False: it is marked already."""
    return Star.objects.get_or_create(user=user, run=run)[1]


def unstar(run: Run, *, user: User) -> bool:
    """Take the mark away. False: there is none."""
    return bool(Star.objects.filter(user=user, run=run).delete()[0])
