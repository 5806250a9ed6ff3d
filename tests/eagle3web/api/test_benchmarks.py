import pytest

from tests.support import factories as make
from tests.support.api import Caller, caller

pytestmark = pytest.mark.django_db


@pytest.fixture
def api() -> Caller:
    return caller("vi", "viewer")


def test_benchmarks_are_attempts_of_their_stage(api: Caller) -> None:
    first = make.attempt(make.run(stage="benchmark"))
    second = make.attempt(make.run(stage="benchmark"))
    make.attempt()
    assert [row["id"] for row in api.get("/api/benchmarks").json()["items"]] == [second.pk, first.pk]
    mine = api.get("/api/benchmarks", project=first.run.project.slug).json()
    assert [(row["id"], row["run"]) for row in mine["items"]] == [(first.pk, first.run_id)]


def test_one_benchmark_has_all_its_rows_below_their_baseline(api: Caller) -> None:
    attempt = make.attempt(make.run(stage="benchmark"), summary={"verdict": "Worth it."})
    for mode in ("drafter", "plain", "lookup"):
        make.result(attempt, mode)
    body = api.get(f"/api/benchmarks/{attempt.pk}").json()
    assert (body["summary"], [row["mode"] for row in body["rows"]]) == (
        {"verdict": "Worth it."},
        ["plain", "lookup", "drafter"],
    )
    assert (body["rows"][2]["speedup"], body["rows"][2]["acceptance"]) == (1.58, [0.76, 0.66, 0.57])


def test_attempt_of_another_stage_is_404(api: Caller) -> None:
    assert api.get(f"/api/benchmarks/{make.attempt().pk}").status_code == 404
