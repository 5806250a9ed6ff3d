"""How long an attempt's answers are."""

from dataclasses import dataclass

from django.db.models import Max

from eagle3web.models import Event
from pipeline.events import LengthsCounted, Line

BINS = 32


@dataclass(frozen=True)
class Lengths:
    dataset: str
    edges: list[int]
    counts: list[int]

    @property
    def answers(self) -> int:
        return sum(self.counts)


def answer_lengths(attempt_id: int) -> list[Lengths]:
    """The newest count of each dataset, in the order in which they began. Two queries."""
    counted = Event.objects.filter(attempt=attempt_id, kind=LengthsCounted.kind).order_by()
    newest = counted.values("payload__dataset").annotate(newest=Max("seq")).values_list("newest", flat=True)
    rows = Event.objects.filter(attempt=attempt_id, seq__in=list(newest)).order_by("seq")
    found = []
    for row in rows:
        event = Line(seq=row.seq, t=row.t, kind=row.kind, payload=row.payload).event
        if isinstance(event, LengthsCounted) and _makes_sense(event):
            found.append(_merged(event))
    return found


def _makes_sense(event: LengthsCounted) -> bool:
    """An event comes from a file, and may be of a newer pipeline."""
    counts: object = event.counts
    whole = isinstance(counts, (list, tuple)) and all(isinstance(count, int) for count in counts)
    return whole and isinstance(event.width, int)


def _merged(event: LengthsCounted) -> Lengths:
    """At most BINS bins, so that a chart stays readable."""
    width = max(1, event.width)
    together = -(-max(1, len(event.counts)) // BINS)
    counts = [sum(event.counts[i : i + together]) for i in range(0, len(event.counts), together)]
    return Lengths(str(event.dataset), [i * together * width for i in range(len(counts) + 1)], counts)
