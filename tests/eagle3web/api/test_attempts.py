"""What an attempt said, over the API: nothing missing, nothing twice, nothing of another attempt."""

import pytest

from eagle3web.enums import Role
from tests.support import factories as make
from tests.support.api import Caller, caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    return caller("ada", Role.VIEWER)


def test_attempt_shows_its_state_and_clocks(api: Caller) -> None:
    attempt = make.attempt()
    answer = api.get(f"/api/attempts/{attempt.pk}").json()
    assert (answer["status"], answer["shown"]["state"], answer["run"], answer["number"]) == (
        "running",
        "running",
        attempt.run_id,
        1,
    )
    assert answer["shown"]["alive_age"] < 5


def test_events_after_a_number_come_in_order_without_gaps(api: Caller) -> None:
    attempt, other = make.attempt(), make.attempt()
    for n in range(5):
        make.event(attempt, "warning", text=str(n))
        make.event(other, "warning", text="other")
    seen: list[str] = []
    after = 0
    while items := (answer := api.get(f"/api/attempts/{attempt.pk}/events", after=after, limit=2).json())["items"]:
        seen += [event["payload"]["text"] for event in items]
        after = answer["next_after"]
    assert seen == ["0", "1", "2", "3", "4"]
    assert (answer["next_after"], answer["last_seq"]) == (5, 5)


def test_decisions_are_the_events_that_say_why(api: Caller) -> None:
    attempt = make.attempt()
    make.event(attempt, "generation_progress", dataset="B2")
    make.event(attempt, "dataset_skipped", dataset="B1", reason="budget_met", tokens=17_030_000, budget=10_000_000)
    (decision,) = api.get(f"/api/attempts/{attempt.pk}/decisions").json()["items"]
    assert (decision["seq"], decision["kind"]) == (2, "dataset_skipped")
    assert (decision["payload"]["tokens"], decision["payload"]["budget"]) == (17_030_000, 10_000_000)


def test_datasets_show_progress(api: Caller) -> None:
    attempt = make.attempt()
    make.progress(attempt, dataset="B1_glaive", tokens=4_200_000)
    make.progress(dataset="B1_glaive")
    (row,) = api.get(f"/api/attempts/{attempt.pk}/datasets").json()["items"]
    assert (row["dataset"], row["tokens"], row["finish_reasons"]) == ("B1_glaive", 4_200_000, {"stop": 1648, "length": 80})


def test_points_are_filtered_by_name_and_series(api: Caller) -> None:
    attempt = make.attempt()
    for n in range(3):
        make.point(attempt, "tokens_per_s", n, series="B1")
        make.point(attempt, "tokens_per_s", n, series="B2")
        make.point(attempt, "errors", n, series="B1")
    path = f"/api/attempts/{attempt.pk}/points"
    answer = api.get(path, name="tokens_per_s", series="B1", limit=2).json()
    assert [point["value"] for point in answer["items"]] == [0, 1]
    rest = api.get(path, name="tokens_per_s", series="B1", after=answer["next_after"]).json()
    assert [point["value"] for point in rest["items"]] == [2]


@pytest.mark.parametrize("what", ["", "/datasets", "/events", "/decisions", "/points", "/log", "/log/raw"])
def test_unknown_attempt_is_404(api: Caller, what: str) -> None:
    assert api.get(f"/api/attempts/99{what}").status_code == 404


@pytest.mark.parametrize("query", [{"after": -1}, {"limit": 0}, {"limit": 10**9}, {"after": "x"}, {"after": 2**63}])
def test_bad_queries_are_422(api: Caller, query: dict[str, object]) -> None:
    attempt = make.attempt()
    answer = api.get(f"/api/attempts/{attempt.pk}/events", **query)
    assert (answer.status_code, [error["field"] for error in answer.json()["errors"]]) == (422, list(query))
