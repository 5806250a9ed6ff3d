"""Samples of machines grow old: every one for an hour, one a minute for a day, one in ten minutes for a month, then none."""

from collections.abc import Iterator
from datetime import datetime, timedelta

from eagle3web.domain.clock import database_now
from eagle3web.models import EngineSample, HostSample

HOUR, DAY, MONTH = timedelta(hours=1), timedelta(days=1), timedelta(days=30)
STEPS = ((HOUR, DAY, 60), (DAY, MONTH, 600))
"""Between these ages, one sample in so many seconds is kept: the first."""
BATCH = 500
Row = tuple[int, int, datetime]
"""Key, whose, when."""


def thin_samples() -> int:
    """Delete what is too old or too close together; how many samples that were. Doing it again deletes nothing."""
    return sum(_thin(model, owner) for model, owner in ((HostSample, "host_id"), (EngineSample, "engine_id")))


def _thin(model: type[HostSample] | type[EngineSample], owner: str) -> int:
    now = database_now()
    deleted = model.objects.filter(at__lt=now - MONTH).delete()[0]
    for younger, older, every_s in STEPS:
        rows = model.objects.filter(at__gte=now - older, at__lt=now - younger).order_by("at")
        surplus = list(_surplus(rows.values_list("pk", owner, "at").iterator(chunk_size=5000), every_s))
        for start in range(0, len(surplus), BATCH):
            deleted += model.objects.filter(pk__in=surplus[start : start + BATCH]).delete()[0]
    return deleted


def _surplus(rows: Iterator[Row], every_s: int) -> Iterator[int]:
    """Keys of all but the first in each interval of each machine."""
    seen: dict[int, int] = {}
    for key, owner, at in rows:
        place = int(at.timestamp()) // every_s
        if seen.get(owner) == place:
            yield key
        seen[owner] = place
