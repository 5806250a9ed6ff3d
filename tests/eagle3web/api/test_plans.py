import pytest

from eagle3web.models import TokenBudget
from tests.support import factories as make
from tests.support.api import Caller, caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    project = make.project(slug="k2", sampling={"max_new_tokens": 200})
    for slug in ("B1", "B2"):
        dataset = make.dataset(slug=slug)
        make.revision(dataset)
        make.budget(project, dataset, tokens=10_000)
    return caller("vera", "viewer")


def test_plan_of_nothing_is_what_is_saved(api: Caller) -> None:
    body = api.post("/api/projects/k2/plan", {}).json()
    assert [(row["dataset"], row["tokens"], row["changed"]) for row in body["rows"]] == [
        ("B1", 10_000, False), ("B2", 10_000, False),
    ]  # fmt: skip
    assert (body["total"]["tokens"]["likely"], body["rate"], body["total"]["hours"]) == (20_000, None, None)


def test_what_ifs_change_the_plan_and_no_budget(api: Caller) -> None:
    asked = {"budgets": {"B1": {"tokens": 40_000}, "B2": {"tokens": None, "enabled": False}, "B9": {"tokens": 1}}}
    body = api.post("/api/projects/k2/plan", asked | {"speed": 100.0, "engines": 2, "concurrency": 16, "length": 2.0}).json()
    assert (body["total"]["tokens"]["likely"], body["total"]["answers"]["likely"]) == (40_000, 200)
    assert body["rate"]["likely"] == 200
    assert body["total"]["hours"]["likely"] == pytest.approx(200 / 3600)
    assert [row["changed"] for row in body["rows"]] == [True, True]
    assert set(TokenBudget.objects.values_list("tokens", "version")) == {(10_000, 1)}


@pytest.mark.parametrize(
    "asked", [{"speed": 0}, {"engines": 0}, {"length": 0}, {"rate": 3}, {"budgets": {"B1": {"tokens": -1}}}]
)
def test_impossible_plans_are_refused(api: Caller, asked: dict[str, object]) -> None:
    assert api.post("/api/projects/k2/plan", asked).status_code == 422
