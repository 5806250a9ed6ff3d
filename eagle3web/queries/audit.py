"""The audit trail, filtered. It only grows, so that pages of it are cut by key: what is newer never moves what is read."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from eagle3web.models import AuditEntry, User

SYSTEM = "system"
"""In the filter by person: what nobody did, but the system itself."""
CHUNK = 1000


@dataclass(frozen=True, kw_only=True)
class AuditFilter:
    """What is wanted of the trail; empty fields want everything."""

    person: str = ""
    """A username, or SYSTEM."""
    verb: str = ""
    """Whole, such as `run.stop`, or the noun alone, such as `run`."""
    thing: str = ""
    """Part of what it was done to, such as `run 142`."""
    since: datetime | None = None
    until: datetime | None = None


def entries(wanted: AuditFilter) -> QuerySet[AuditEntry]:
    """The newest first."""
    rows = AuditEntry.objects.select_related("user").order_by("-id")
    if wanted.person:
        rows = rows.filter(user=None) if wanted.person == SYSTEM else rows.filter(user__username=wanted.person)
    if wanted.verb:
        rows = rows.filter(Q(verb=wanted.verb) | Q(verb__startswith=f"{wanted.verb}."))
    if wanted.thing:
        rows = rows.filter(Q(target=wanted.thing) | Q(target__icontains=wanted.thing))
    if wanted.since is not None:
        rows = rows.filter(at__gte=wanted.since)
    if wanted.until is not None:
        rows = rows.filter(at__lt=wanted.until)
    return rows


def slice_of(rows: QuerySet[AuditEntry], *, before: int | None, limit: int) -> tuple[list[AuditEntry], int | None]:
    """The first `limit` entries older than `before`, and the key before which the rest stands; None at the end. One query."""
    found = list((rows if before is None else rows.filter(pk__lt=before))[: limit + 1])
    return found[:limit], found[limit - 1].pk if len(found) > limit else None


def walk(rows: QuerySet[AuditEntry]) -> Iterator[AuditEntry]:
    """All of them, a chunk at a time: an export of a million never stands in memory, nor holds a cursor open."""
    before: int | None = None
    while True:
        found, before = slice_of(rows, before=before, limit=CHUNK)
        yield from found
        if before is None:
            return


def verbs() -> list[str]:
    """All that was ever done. One query."""
    return list(AuditEntry.objects.order_by("verb").values_list("verb", flat=True).distinct())


def people() -> list[str]:
    """Everybody who has an account, by name. One query."""
    return list(User.objects.order_by("username").values_list("username", flat=True))
