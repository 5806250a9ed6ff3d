"""What a plan starts from: a project's budgets, and what was measured of its answers, its engines and its disk."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.db.models import OuterRef, Subquery

from eagle3web.domain.forecasts import ForecastRow, forecast
from eagle3web.domain.storage import bytes_per_token, free_disk
from eagle3web.enums import Stage
from eagle3web.models import Answer, DatasetRevision, Engine, Project, Run
from pipeline.budget import Range

ASSUMED_BYTES = 14.0
"""Of a response file for each completion token, until some are on disk: the id, the text, and their share of the prompt."""
SIZED = 200
"""Newest answers that the bytes a token are measured on."""
ASSUMED_CONCURRENCY = 8


@dataclass(frozen=True, kw_only=True)
class Wish:
    """What one dataset should reach."""

    tokens: int | None
    enabled: bool


@dataclass(frozen=True, kw_only=True)
class Assumptions:
    """What generation is assumed to be like."""

    speed: float | None
    """Completion tokens a second of one engine that is busy; None while nobody knows."""
    engines: int
    concurrency: int
    """Requests in flight over all engines."""
    length: float = 1.0
    """Mean length of answers, as a multiple of the measured one."""
    stored: bool = True
    """Whether hidden states are kept on disk."""


@dataclass(frozen=True, kw_only=True)
class Basis:
    """What is known of a project."""

    rows: list[ForecastRow]
    rate: Range | None
    rate_from: str
    early: bool
    engines: int
    """That the rate was measured with, as `concurrency`."""
    concurrency: int
    mean_prompts: Mapping[int, float]
    """Dataset → tokens of a prompt."""
    answer_bytes: float
    """Of a response file, for each completion token."""
    sized: int
    """Answers that this was measured on; 0: assumed."""
    state_bytes: int | None
    """Of hidden states for each token; None while the target's config cannot be read from here."""
    free: int

    @property
    def speed(self) -> float | None:
        return None if self.rate is None else self.rate.likely / self.engines

    def assumptions(self) -> Assumptions:
        """As it was measured."""
        return Assumptions(speed=self.speed, engines=self.engines, concurrency=self.concurrency)

    def wishes(self) -> dict[str, Wish]:
        """As they are saved."""
        return {row.dataset: Wish(tokens=row.budget.tokens, enabled=row.budget.enabled) for row in self.rows}


def basis_of(project: Project) -> Basis:
    """A fixed number of queries."""
    found = forecast(project)
    engines, concurrency = _measured_with(project)
    answer_bytes, sized = _answer_bytes(project)
    return Basis(
        rows=found.rows,
        rate=found.rate,
        rate_from=found.rate_from,
        early=found.early,
        engines=engines,
        concurrency=concurrency,
        mean_prompts=_mean_prompts(found.rows),
        answer_bytes=answer_bytes,
        sized=sized,
        state_bytes=bytes_per_token(Path(project.target_path)) if project.target_path else None,
        free=free_disk(),
    )


def _measured_with(project: Project) -> tuple[int, int]:
    """Engines and requests in flight of the newest generation that was started; without one, the engines that there are."""
    runs = Run.objects.filter(project=project, stage=Stage.GENERATE, attempts__isnull=False).order_by("-pk")
    found = runs.values_list("config__engines", "config__concurrency").first()
    if found is None:
        engines = Engine.objects.filter(enabled=True).count()
        return max(1, engines), ASSUMED_CONCURRENCY
    engines, concurrency = found
    return max(1, len(engines or ())), max(1, concurrency or ASSUMED_CONCURRENCY)


def _answer_bytes(project: Project) -> tuple[float, int]:
    """Bytes a token, and how many answers they were measured on."""
    rows = list(Answer.objects.filter(project=project).order_by("-pk").values_list("size", "tokens")[:SIZED])
    rows = [(size, tokens) for size, tokens in rows if tokens]
    if not rows:
        return ASSUMED_BYTES, 0
    return sum(size for size, _ in rows) / sum(tokens for _, tokens in rows), len(rows)


def _mean_prompts(rows: list[ForecastRow]) -> dict[int, float]:
    """Of the newest revision of each dataset whose prompts were measured. One query."""
    measured = DatasetRevision.objects.exclude(token_lengths={})
    newest = measured.filter(dataset=OuterRef("dataset")).order_by("-pk").values("pk")[:1]
    chosen = measured.filter(dataset__in=[row.budget.dataset_id for row in rows], pk=Subquery(newest))
    return {dataset: float(mean or 0) for dataset, mean in chosen.values_list("dataset", "token_lengths__mean")}
