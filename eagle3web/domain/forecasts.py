"""What a project's budgets will take: measured lengths and rates where there are any, stated assumptions where not."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, quantiles
from typing import Any

from django.db.models import Exists, OuterRef, Q, Subquery, Sum

from eagle3web.enums import AttemptStatus, EngineState, RevisionState, Stage
from eagle3web.models import Attempt, DatasetProgress, DatasetRevision, Engine, MetricPoint, Project, TokenBudget
from eagle3web.queries.standing import newest_progress
from pipeline.budget import Forecast, LengthStats, Range, Target, forecast_plan
from pipeline.budget import forecast as forecast_dataset
from pipeline.config import SamplingConfig, from_mapping, to_mapping

RATE_POINTS = 2_000
"""Newest points of a run that its rate is measured from."""
BUCKET_S = 60
UNSURE = 0.5
"""Spread of a rate that was not measured over a run: ± 50 %."""
ENOUGH_ANSWERS = 20
"""Below, a measured mean length says little about the next answers."""
ENOUGH_MINUTES = 5
"""Below, a measured rate says little about the next minutes."""


@dataclass(frozen=True, kw_only=True)
class ForecastRow:
    """One dataset."""

    budget: TokenBudget
    dataset: str
    prompts: int
    """In the newest ready revision; 0 without one."""
    answers: int
    """On disk already, for this revision and this sampling."""
    tokens: int
    lengths: LengthStats
    lengths_from: str
    """In words: `2 431 answers` or `assumed: …`."""
    forecast: Forecast

    @property
    def early(self) -> bool:
        """So few answers that the range of the tokens says nothing yet."""
        tokens = self.forecast.tokens
        return tokens.low < tokens.high and 0 < self.lengths.answers < ENOUGH_ANSWERS


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Completion tokens a second of all datasets together."""

    range: Range | None
    """None while nobody knows."""
    source: str
    """In words: `run 12`, `the engines' load`, `unknown: …`."""
    early: bool = False
    """Measured for so few minutes that the range says nothing yet."""


@dataclass(frozen=True, kw_only=True)
class ProjectForecast:
    rows: list[ForecastRow]
    total: Forecast
    """All datasets, one after the other."""
    rate: Range | None
    """Completion tokens a second of the whole run; None while nobody knows."""
    rate_from: str
    """In words: `run 12`, `the engines' load`, `unknown: …`."""
    early: bool
    """So little was measured that the range of the hours says nothing yet."""


def forecast(project: Project) -> ProjectForecast:
    """Forecast every budget of the project, in order. A fixed number of queries."""
    budgets = list(project.budgets.select_related("dataset"))
    rate = rate_of(project)
    revisions = _newest_revisions(budgets)
    measured = _measured(project)
    rows = [
        _row(project, budget, revisions.get(budget.dataset_id), measured.get(budget.dataset.slug), rate.range)
        for budget in budgets
    ]
    return ProjectForecast(
        rows=rows,
        total=forecast_plan(row.forecast for row in rows),
        rate=rate.range,
        rate_from=rate.source,
        early=rate.early or any(row.early for row in rows),
    )


def _row(
    project: Project,
    budget: TokenBudget,
    revision: DatasetRevision | None,
    progress: DatasetProgress | None,
    rate: Range | None,
) -> ForecastRow:
    sampling = from_mapping(SamplingConfig, project.sampling | budget.sampling)
    lengths, lengths_from = _lengths(progress, sampling)
    # Answers to other prompts, or sampled otherwise, tell how long answers get, but they do not count.
    counts = progress is not None and revision is not None and _same_records(progress, revision, sampling)
    answers, tokens = (progress.done, progress.tokens) if progress is not None and counts else (0, 0)
    prompts = revision.accepted if revision else 0
    target = Target(tokens=budget.tokens, max_samples=budget.max_samples, enabled=budget.enabled, version=budget.version)
    return ForecastRow(
        budget=budget,
        dataset=budget.dataset.slug,
        prompts=prompts,
        answers=answers,
        tokens=tokens,
        lengths=lengths,
        lengths_from=lengths_from,
        forecast=forecast_dataset(target, prompts=prompts, lengths=lengths, answers=answers, tokens=tokens, rate=rate),
    )


def _lengths(progress: DatasetProgress | None, sampling: SamplingConfig) -> tuple[LengthStats, str]:
    if progress is None:
        text = f"assumed: any length up to {sampling.max_new_tokens:,} tokens".replace(",", " ")
        return LengthStats.assumed(sampling.max_new_tokens), text
    mean = progress.tokens / progress.done
    # Only the mean and the longest are kept. Lengths of answers spread about as wide as their mean (as an exponential
    # distribution does), and no distribution between 0 and the longest spreads wider than this root.
    deviation = min(mean, max(0.0, mean * (progress.longest - mean)) ** 0.5)
    words = f"{progress.done:,} answers".replace(",", " ")
    return LengthStats(answers=progress.done, mean=mean, deviation=deviation), words


def _same_records(progress: DatasetProgress, revision: DatasetRevision, sampling: SamplingConfig) -> bool:
    plans: Sequence[Mapping[str, Any]] = progress.attempt.config.get("datasets", [])
    plan = next((plan for plan in plans if plan.get("slug") == progress.dataset), None)
    if plan is None:
        return False
    now = {key: list(value) if isinstance(value, tuple) else value for key, value in to_mapping(sampling).items()}
    return plan.get("revision") == revision.revision and plan.get("sampling", {}) == now


def _newest_revisions(budgets: Sequence[TokenBudget]) -> dict[int, DatasetRevision]:
    """Dataset → its newest ready revision."""
    rows = DatasetRevision.objects.filter(state=RevisionState.READY, dataset__in=[budget.dataset_id for budget in budgets])
    return {row.dataset_id: row for row in rows.defer("report", "token_lengths").order_by("id")}


def _measured(project: Project) -> dict[str, DatasetProgress]:
    """Dataset → its newest progress with an answer. Counts of progress are absolute, so the newest one has them all."""
    return {row.dataset: row for row in newest_progress(project.pk, Q(done__gt=0))}


def rate_of(project: Project) -> Rate:
    """What the live runs do now, else what the last run did, else what the engines say of themselves."""
    moved = MetricPoint.objects.filter(name="tokens_per_s", value__gt=0)
    attempts = Attempt.objects.filter(run__project=project, run__stage=Stage.GENERATE)
    attempt = attempts.filter(Exists(moved.filter(attempt=OuterRef("pk")))).defer("config").order_by("-pk").first()
    if attempt is not None:
        # Up to the newest that moved: what a run writes while it waits, or after its last answer, says nothing of its rate.
        last = moved.filter(attempt=attempt).order_by("-pk").values("pk")[:1]
        points = MetricPoint.objects.filter(attempt=attempt, name="tokens_per_s", pk__lte=Subquery(last))
        newest = points.order_by("-pk").values_list("t", "series", "value")[:RATE_POINTS]
        measured, minutes = measured_rate(list(newest))
        early, source = minutes < ENOUGH_MINUTES, f"run {attempt.run_id}"
        now = _rate_now(project)
        if now:
            # The same number that the pages of the runs divide by.
            measured = Range(low=min(measured.low, now), likely=now, high=max(measured.high, now))
            source += ", now"
        return Rate(range=measured, source=source, early=early)
    said = Engine.objects.filter(enabled=True, state=EngineState.HEALTHY).aggregate(total=Sum("tokens_per_s"))["total"]
    if said:
        return Rate(range=Range.around(said, spread=UNSURE), source="the engines' load")
    return Rate(range=None, source="unknown: nothing has been generated yet")


def _rate_now(project: Project) -> float:
    """Completion tokens a second over the last minute of everything that is at work; 0 when nothing is."""
    live = DatasetProgress.objects.filter(attempt__run__project=project, attempt__status__in=AttemptStatus.LIVE)
    total: float | None = live.aggregate(total=Sum("tokens_per_s"))["total"]
    return total or 0.0


def measured_rate(points: Sequence[tuple[Any, str, float]]) -> tuple[Range, int]:
    """The rate of a run from `(time, dataset, tokens/s)`, one of them above 0: the sum over datasets, which nine of ten
    minutes lie in; and the number of those minutes."""
    minutes: dict[int, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for t, series, value in points:
        minutes[int(t.timestamp()) // BUCKET_S][series].append(value)
    sums = [sum(fmean(values) for values in datasets.values()) for datasets in minutes.values()]
    sums = [value for value in sums if value > 0]
    likely = fmean(sums)
    if len(sums) < ENOUGH_MINUTES:
        return Range.around(likely, spread=UNSURE), len(sums)
    cuts = quantiles(sums, n=20, method="inclusive")
    return Range(low=min(cuts[0], likely), likely=likely, high=max(cuts[-1], likely)), len(sums)
