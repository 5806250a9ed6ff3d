"""A plan's forecast from what was measured, and from stated assumptions where nothing was."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from eagle3web.domain.forecasts import forecast, measured_rate
from eagle3web.enums import AttemptStatus, EngineState
from eagle3web.models import Attempt, Dataset, MetricPoint, Project
from eagle3web.pages.datasets_of_run import totals
from pipeline.budget import Range
from pipeline.config import SamplingConfig, to_mapping
from tests.support import factories as make

START = datetime(2026, 1, 1, tzinfo=UTC)
SAMPLING = {"temperature": 0.0, "max_new_tokens": 8192}


def plan_of(*datasets: Dataset, **sampling: Any) -> dict[str, Any]:
    """A run's config over the newest revisions of these datasets."""
    full = to_mapping(SamplingConfig(**SAMPLING | sampling)) | {"stop_token_ids": []}
    found = [{"slug": d.slug, "revision": d.revisions.latest("id").revision, "sampling": full} for d in datasets]
    return {"datasets": found}


def rates(attempt: Attempt, *values: float, series: str = "B1") -> None:
    """One point a minute."""
    for n, value in enumerate(values):
        make.point(attempt, "tokens_per_s", value, series=series, t=START + timedelta(minutes=n))


@pytest.mark.django_db
def test_eight_datasets_come_out_right() -> None:
    """88,000 prompts and 10 M tokens each: about 38,000 answers, 80 M tokens or fewer, hours at the measured rate."""
    project = make.project(sampling=SAMPLING)
    prompts = [6_236, 12_000, 20_000, 8_000, 15_000, 9_764, 10_000, 7_000]
    means = [2_400, 2_000, 1_900, 2_600, 2_000, 2_900, 2_300, 1_100]
    sets = [make.dataset() for _ in prompts]
    for dataset, count in zip(sets, prompts, strict=True):
        make.revision(dataset, accepted=count)
        make.budget(project, dataset, tokens=10_000_000)
    config = plan_of(*sets)
    attempt = make.attempt(make.run(project), status=AttemptStatus.STOPPED, config=config)
    for dataset, mean in zip(sets, means, strict=True):
        make.progress(attempt, dataset=dataset.slug, done=400, tokens=400 * mean, longest=8192)
    rates(attempt, *[2_000, 2_100, 2_200, 1_900, 2_000, 1_800] * 3)
    found = forecast(project)
    expected = sum(min(10_000_000, count * mean) for count, mean in zip(prompts, means, strict=True))
    done = sum(400 * mean for mean in means)
    assert sum(prompts) == 88_000
    assert 37_000 < found.total.answers.likely + 8 * 400 < 39_000
    assert found.total.tokens.likely + done == pytest.approx(expected, rel=0.001)
    assert found.total.tokens.high + done <= 80_000_000
    assert found.rate is not None
    assert found.total.hours is not None
    assert found.total.hours.likely == pytest.approx(found.total.tokens.likely / 2_000 / 3600, rel=0.001)
    assert found.total.hours.low < found.total.hours.likely < found.total.hours.high
    assert [row.forecast.reason for row in found.rows] == ["budget_met"] * 7 + ["exhausted"]
    assert found.rate_from == f"run {attempt.run_id}"


@pytest.mark.django_db
def test_nothing_measured_is_assumed_and_said() -> None:
    project = make.project(sampling={"max_new_tokens": 1000})
    budget = make.budget(project, tokens=100_000)
    make.revision(budget.dataset, accepted=5_000)
    found = forecast(project)
    (row,) = found.rows
    assert (row.lengths.mean, row.lengths_from) == (500, "assumed: any length up to 1 000 tokens")
    assert (row.forecast.answers.likely, row.forecast.hours, found.rate) == (200, None, None)
    assert found.rate_from == "unknown: nothing has been generated yet"


@pytest.mark.django_db
def test_engines_give_the_rate_before_the_first_run() -> None:
    project = make.project()
    make.revision(make.budget(project).dataset)
    make.engine(tokens_per_s=300.0)
    make.engine(tokens_per_s=100.0)
    make.engine(tokens_per_s=900.0, state=EngineState.DOWN)
    make.engine(tokens_per_s=None)
    found = forecast(project)
    assert found.rate is not None
    assert (found.rate.low, found.rate.likely, found.rate.high, found.rate_from) == (200, 400, 600, "the engines' load")


@pytest.fixture
def project() -> Project:
    """One dataset of 1,000 prompts, 400 of them answered with 40,000 tokens."""
    found = make.project(sampling=SAMPLING)
    budget = make.budget(found, make.dataset(slug="B1"), tokens=100_000)
    make.revision(budget.dataset, accepted=1_000)
    attempt = make.attempt(make.run(found), config=plan_of(budget.dataset))
    make.progress(attempt, dataset="B1", done=400, tokens=40_000, longest=500)
    return found


@pytest.mark.django_db
def test_what_is_done_counts(project: Project) -> None:
    (row,) = forecast(project).rows
    assert (row.answers, row.tokens, row.lengths_from) == (400, 40_000, "400 answers")
    assert (row.forecast.answers.likely, row.forecast.tokens.likely) == (600, 60_000)


@pytest.mark.django_db
def test_new_attempt_that_has_no_answers_yet_hides_nothing(project: Project) -> None:
    run = project.runs.get()
    make.progress(make.attempt(run, config=run.attempts.get().config), dataset="B1", done=0, tokens=0)
    assert forecast(project).rows[0].answers == 400


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["revision", "sampling"])
def test_answers_to_other_prompts_or_sampling_give_lengths_but_do_not_count(project: Project, change: str) -> None:
    budget = project.budgets.get()
    if change == "revision":
        make.revision(budget.dataset, accepted=1_000)
    else:
        budget.sampling = {"temperature": 0.7}
        budget.save()
    (row,) = forecast(project).rows
    assert (row.answers, row.tokens, row.lengths.mean, row.forecast.answers.likely) == (0, 0, 100, 1_000)


@pytest.mark.django_db
def test_budget_without_prompts_or_switched_off_needs_nothing() -> None:
    project = make.project()
    make.budget(project)
    make.budget(project, enabled=False)
    found = forecast(project)
    assert [(row.forecast.reason, row.forecast.tokens.likely) for row in found.rows] == [("exhausted", 0), ("disabled", 0)]
    assert found.total.hours is not None
    assert found.total.hours.likely == 0


@pytest.mark.django_db
def test_live_run_gives_the_rate_of_now(project: Project) -> None:
    attempt = Attempt.objects.get()
    rates(attempt, *[100.0] * 6)
    attempt.datasets.update(tokens_per_s=150.0, total=1_000, budget=100_000)
    found = forecast(project)
    assert found.rate == Range(low=100, likely=150, high=150)
    assert (found.rate_from, found.early) == (f"run {attempt.run_id}, now", False)


@pytest.mark.django_db
def test_project_and_run_tell_the_same_time(project: Project) -> None:
    attempt = Attempt.objects.get()
    rates(attempt, 10.0, 90.0)
    attempt.datasets.update(tokens_per_s=150.0, total=1_000, budget=100_000)
    for budget in (100_000, 45_000):
        project.budgets.update(tokens=budget)
        attempt.datasets.update(budget=budget)
        hours = forecast(project).total.hours
        assert hours is not None
        assert hours.likely * 3600 == pytest.approx(totals(list(attempt.datasets.all()), forecast=True).eta_s)


@pytest.mark.django_db
def test_rate_is_from_before_a_run_fell_still(project: Project) -> None:
    attempt = Attempt.objects.get()
    attempt.datasets.update(tokens_per_s=0)
    rates(attempt, *[100.0] * 6)
    quiet = {"attempt": attempt, "name": "tokens_per_s", "series": "B1", "value": 0.0}
    late = [START + timedelta(hours=1, seconds=n) for n in range(2_001)]
    MetricPoint.objects.bulk_create(MetricPoint(t=t, **quiet) for t in late)
    found = forecast(project)
    assert (found.rate, found.rate_from) == (Range.around(100), f"run {attempt.run_id}")


@pytest.mark.django_db
@pytest.mark.parametrize(("answers", "minutes", "early"), [(400, 5, False), (400, 4, True), (19, 5, True), (20, 5, False)])
def test_forecast_of_few_answers_or_minutes_is_early(project: Project, answers: int, minutes: int, early: bool) -> None:
    attempt = Attempt.objects.get()
    attempt.datasets.update(done=answers, tokens=answers * 100, tokens_per_s=0)
    rates(attempt, *[100.0] * minutes)
    assert forecast(project).early is early


def test_rate_sums_datasets_within_a_minute() -> None:
    points = [
        (START + timedelta(minutes=n, seconds=s), name, 100.0 + n) for n in range(5) for s in (0, 30) for name in ("B1", "B2")
    ]
    rate, minutes = measured_rate(points)
    assert (rate.likely, minutes) == (204, 5)
    assert 200 <= rate.low < rate.likely < rate.high <= 208


def test_rate_of_few_minutes_is_unsure() -> None:
    rate, minutes = measured_rate([(START, "B1", 100.0)])
    assert (rate.low, rate.likely, rate.high, minutes) == (50, 100, 150, 1)
