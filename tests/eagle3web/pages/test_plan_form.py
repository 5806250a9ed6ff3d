import pytest
from django.http import QueryDict

from eagle3web.domain.plan_basis import Basis, Wish, basis_of
from eagle3web.pages.plan_form import Asked, budget_scale, budget_step, read_plan, round_up, sliders
from pipeline.budget import Range
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def basis() -> Basis:
    project = factories.project()
    factories.budget(project, factories.dataset(slug="B1"), tokens=10_000_000)
    factories.budget(project, factories.dataset(slug="B2"), tokens=None)
    return basis_of(project)


def asked(basis: Basis, query: str) -> Asked:
    return read_plan(QueryDict(query), basis)


def test_an_empty_address_is_what_is_saved_and_measured(basis: Basis) -> None:
    found = asked(basis, "")
    assert found.wishes == {"B1": Wish(tokens=10_000_000, enabled=True), "B2": Wish(tokens=None, enabled=True)}
    assert found.assumed == basis.assumptions()
    assert found.scale == 20_000_000


def test_a_form_says_everything(basis: Basis) -> None:
    query = "scale=20000000&budget.B1=4000000&budget.B2=20000000&on=B2&speed=70&engines=3&concurrency=9&length=150"
    found = asked(basis, query)
    assert found.wishes == {"B1": Wish(tokens=4_000_000, enabled=False), "B2": Wish(tokens=None, enabled=True)}
    assumed = found.assumed
    assert (assumed.speed, assumed.engines, assumed.concurrency, assumed.length, assumed.stored) == (70.0, 3, 9, 1.5, False)
    assert asked(basis, "scale=1&stored=on").assumed.stored
    assert asked(basis, "scale=20000000&budget.B2=5000000&on=B2").wishes["B2"] == Wish(tokens=5_000_000, enabled=True)


def test_a_slider_on_the_measured_speed_means_exactly_that(basis: Basis) -> None:
    measured = Basis(**vars(basis) | {"rate": Range(low=1, likely=41.4, high=90), "engines": 1})
    assert asked(measured, "speed=41").assumed.speed == 41.4
    assert asked(measured, "speed=42").assumed.speed == 42.0
    assert asked(measured, "speed=0").assumed.speed is None


@pytest.mark.parametrize(
    "query", ["budget.B1=-3&scale=x", "budget.B1=1e9", "engines=0x3&length=many", "budget.B9=7", "speed=x"]
)
def test_what_makes_no_sense_is_passed_over(basis: Basis, query: str) -> None:
    assert asked(basis, query) == asked(basis, "")


def test_impossible_assumptions_become_the_nearest_possible_ones(basis: Basis) -> None:
    found = asked(basis, "engines=0&concurrency=0&length=5").assumed
    assert (found.engines, found.concurrency, found.length) == (1, 1, 0.25)


@pytest.mark.parametrize(("value", "expected"), [(1, 1), (11, 15), (64, 70), (100, 100), (34_060_000, 40_000_000)])
def test_round_numbers_are_not_much_larger(value: float, expected: int) -> None:
    assert round_up(value) == expected


def test_scale_has_room_for_twice_the_largest_budget(basis: Basis) -> None:
    assert budget_scale(basis) == 20_000_000


@pytest.mark.parametrize(
    ("scale", "budgets", "step"),
    [
        (20_000_000, [10_000_000], 200_000),
        (20_000_000, [10_050_000, None, 8_000_000], 50_000),
        (20_000_000, [9_999_999], 1),
        (1000, [], 20),
    ],
)
def test_step_is_coarse_and_moves_no_saved_budget(scale: int, budgets: list[int | None], step: int) -> None:
    assert budget_step(scale, budgets) == step


def test_sliders_stand_where_they_were_asked_to(basis: Basis) -> None:
    found = sliders(asked(basis, "speed=5000&engines=40&concurrency=700&length=80"), basis)
    assert {name: slider.value for name, slider in found.items()} == {
        "speed": 5000, "engines": 40, "concurrency": 700, "length": 80,
    }  # fmt: skip
    assert all(slider.low <= slider.value <= slider.high for slider in found.values())
