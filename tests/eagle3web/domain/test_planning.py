"""What-ifs on top of what was measured."""

from dataclasses import replace

import pytest

from eagle3web.domain.plan_basis import ASSUMED_BYTES, Assumptions, Basis, Wish, basis_of
from eagle3web.domain.planning import assumed_rate, make_plan
from eagle3web.models import Project
from pipeline.budget import Range
from tests.support import factories

pytestmark = pytest.mark.django_db
MEASURED = Range(low=90, likely=100, high=120)


@pytest.fixture
def project() -> Project:
    """Two datasets of a thousand prompts, budgets of 10,000 tokens, answers of up to 200 tokens."""
    project = factories.project(sampling={"max_new_tokens": 200})
    for slug in ("B1", "B2"):
        dataset = factories.dataset(slug=slug)
        factories.revision(dataset)
        factories.budget(project, dataset, tokens=10_000)
    return project


def measured(basis: Basis, **changes: object) -> Basis:
    """As if two engines had done 100 tokens/s with 16 requests in flight."""
    return replace(basis, **{"rate": MEASURED, "engines": 2, "concurrency": 16} | changes)  # type: ignore[arg-type]


def test_what_is_saved_and_measured_is_where_a_plan_starts(project: Project) -> None:
    basis = measured(basis_of(project))
    plan = make_plan(basis, {}, basis.assumptions())
    assert (plan.total.tokens.likely, plan.total.answers.likely, plan.budgeted) == (20_000, 200, 20_000)
    assert plan.rate == MEASURED
    assert plan.total.hours is not None
    assert plan.total.hours.likely == pytest.approx(200 / 3600)
    assert plan.changes == []


def test_other_budgets_change_the_plan_and_nothing_else(project: Project) -> None:
    basis = measured(basis_of(project))
    wishes = {"B1": Wish(tokens=30_000, enabled=True), "B2": Wish(tokens=10_000, enabled=False)}
    plan = make_plan(basis, wishes, basis.assumptions())
    assert (plan.total.tokens.likely, plan.budgeted) == (30_000, 30_000)
    assert [(row.row.dataset, row.changed) for row in plan.rows] == [("B1", True), ("B2", True)]
    assert set(project.budgets.values_list("tokens", "enabled")) == {(10_000, True)}
    assert make_plan(basis, {"B1": Wish(tokens=None, enabled=True)}, basis.assumptions()).budgeted is None


def test_longer_answers_are_fewer(project: Project) -> None:
    basis = measured(basis_of(project))
    plan = make_plan(basis, {}, replace(basis.assumptions(), length=2.0))
    assert (plan.total.answers.likely, plan.total.tokens.likely) == (100, 20_000)


@pytest.mark.parametrize(
    ("assumed", "likely"),
    [
        ({}, 100),
        ({"speed": 80.0}, 160),
        ({"engines": 4}, 100),
        ({"engines": 4, "concurrency": 32}, 200),
        ({"concurrency": 8}, 50),
        ({"concurrency": 64}, 100),
        ({"engines": 1, "concurrency": 8}, 50),
    ],
)
def test_rate_follows_engines_and_requests_in_flight(project: Project, assumed: dict[str, float], likely: float) -> None:
    basis = measured(basis_of(project))
    found = assumed_rate(basis, replace(basis.assumptions(), **assumed))  # type: ignore[arg-type]
    assert found is not None
    assert [found.low, found.likely, found.high] == pytest.approx([likely * 0.9, likely, likely * 1.2])


def test_without_a_measurement_the_spread_is_wide_and_without_a_speed_there_are_no_hours(project: Project) -> None:
    basis = basis_of(project)
    assert (basis.rate, basis.speed) == (None, None)
    assumed = Assumptions(speed=None, engines=1, concurrency=8)
    assert make_plan(basis, {}, assumed).total.hours is None
    assert assumed_rate(basis, replace(assumed, speed=40.0)) == Range(low=20, likely=40, high=60)


def test_disk_is_answers_and_hidden_states_where_they_are_stored(project: Project) -> None:
    basis = measured(basis_of(project), state_bytes=1000, free=21_000_000)
    plan = make_plan(basis, {}, basis.assumptions())
    # 20,000 tokens of 200 answers, whose prompts have 51.5 tokens each.
    assert plan.response_bytes == pytest.approx(20_000 * ASSUMED_BYTES)
    assert plan.state_bytes == pytest.approx((20_000 + 200 * 51.5) * 1000)
    assert not plan.fits
    online = make_plan(basis, {}, replace(basis.assumptions(), stored=False))
    assert online.bytes == pytest.approx(20_000 * ASSUMED_BYTES)
    assert online.fits
    off = make_plan(basis, {"B2": Wish(tokens=10_000, enabled=False)}, basis.assumptions())
    assert off.state_bytes == pytest.approx((10_000 + 100 * 51.5) * 1000)
