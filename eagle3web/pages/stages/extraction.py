"""Extraction: how much is read, what it takes on disk, and whether the states give the answers back."""

from dataclasses import dataclass, replace

from eagle3web.charts.extraction import disk_figure, read_figure
from eagle3web.formats import count, of, size
from eagle3web.models import Attempt, Host, Run
from eagle3web.pages.stages.base import Context, StagePart
from eagle3web.pages.stages.metric_points import MetricPoints
from eagle3web.queries import points
from eagle3web.queries.counters import last_word
from pipeline.drafter_events import ExtractionProgress

METRICS = ("tokens", "bytes")
AGREEMENT = 0.95
"""Below this share of tokens that the states give back, something is off: another target, template or dtype."""


@dataclass(frozen=True, kw_only=True)
class Extracted:
    """The last word of an attempt, as the page shows it."""

    told: ExtractionProgress
    eta_s: float | None
    disk_free: int | None = None
    """Bytes, on the host that writes."""

    @property
    def share(self) -> float | None:
        """Of what there is to read."""
        return min(1.0, self.told.tokens / self.told.total_tokens) if self.told.total_tokens else None

    @property
    def words(self) -> str:
        return f"{' of '.join(of(self.told.tokens, self.told.total_tokens))} tokens"

    @property
    def documents(self) -> str:
        return f"{count(self.told.documents)} of {count(self.told.total)} answers"

    @property
    def agreement(self) -> float | None:
        return self.told.agreed / self.told.compared if self.told.compared else None

    @property
    def disagrees(self) -> bool:
        return self.agreement is not None and self.agreement < AGREEMENT

    @property
    def left_bytes(self) -> int:
        """Still to be written, as forecast."""
        return max(0, self.told.total_bytes - self.told.bytes)

    @property
    def is_tight(self) -> bool:
        """Less is free than is still to be written."""
        return self.disk_free is not None and self.disk_free < self.left_bytes


def extracted(attempt: Attempt, *, forecast: bool) -> Extracted | None:
    """None before the first word."""
    told = last_word(attempt, ExtractionProgress)
    return None if told is None else Extracted(told=told, eta_s=told.eta_s if forecast else None)


def context(run: Run, attempt: Attempt, forecast: bool) -> Context:
    """One query."""
    found = extracted(attempt, forecast=forecast)
    if found is None:
        return {"extracted": None, "kept": "all finished shards"}
    host = Host.objects.filter(name=attempt.host).first()
    free = host.sample.get("disk_free") if host else None
    kept = f"hidden states of {found.documents}, {size(found.told.bytes)}"
    return {"extracted": replace(found, disk_free=free), "kept": kept}


def details(run: Run, attempt: Attempt, up_to: int) -> Context:
    """Two charts up to now. About five queries."""
    told = last_word(attempt, ExtractionProgress)
    (read, total), (written, _) = (points.points_of(attempt.pk, metric, up_to=up_to) for metric in METRICS)
    return {
        "read_figure": read_figure(read, told.total_tokens if told else 0),
        "disk_figure": disk_figure(written, told.total_bytes if told else 0),
        "points_drawn": len(read),
        "points_total": total,
    }


POINTS = MetricPoints(METRICS)
PART = StagePart(
    template="runs/stages/_extract.html",
    facts="runs/facts/_extract.html",
    fragments={"run-extraction": "runs/_extraction.html"},
    context=context,
    details=details,
    points_after=POINTS.after,
    points_within=POINTS.within,
)
