import pytest
from django.test import Client

from eagle3web.models import Attempt
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt() -> Attempt:
    return factories.attempt(factories.run(stage="benchmark"))


def test_token_view_shows_the_answer_of_the_address_with_its_neighbours(viewer: Client, attempt: Attempt) -> None:
    first, second, third = (factories.answer(attempt, prompt_id=f"p{n}") for n in range(3))
    other = factories.answer(factories.attempt(factories.run(stage="benchmark")))
    path = f"/benchmarks/{attempt.pk}/"
    shown = {
        str(wanted): viewer.get(path, {"answer": wanted}).context["token_view"].answer
        for wanted in (second.pk, other.pk, "x", "9" * 40)
    }
    assert list(shown.values()) == [second, first, first, first]
    html = viewer.get(path, {"answer": second.pk}).content.decode()
    assert f'href="?answer={first.pk}#token-view"' in html
    assert f'href="?answer={third.pk}#token-view"' in html
    assert '<span class="d3" title="draft position 3, accepted"> four</span>' in html


def test_benchmark_without_answers_and_results_says_so(viewer: Client, attempt: Attempt) -> None:
    html = viewer.get(f"/benchmarks/{attempt.pk}/").content.decode()
    assert "No answer with its drafts was told yet" in html
    assert "No result yet" in html


def test_attempt_of_another_stage_is_no_benchmark(viewer: Client) -> None:
    assert viewer.get(f"/benchmarks/{factories.attempt().pk}/").status_code == 404
    assert viewer.get("/benchmarks/999/").status_code == 404


def test_list_pages(viewer: Client, attempt: Attempt) -> None:
    for _ in range(26):
        factories.run(attempt.run.project, stage="benchmark")
    path = f"/projects/{attempt.run.project.slug}/benchmarks/"
    assert len(viewer.get(path).context["benchmarks"]) == 25
    assert len(viewer.get(path, {"page": "2"}).context["benchmarks"]) == 2


def test_empty_list_says_what_a_benchmark_needs(viewer: Client) -> None:
    html = viewer.get(f"/projects/{factories.project().slug}/benchmarks/").content.decode()
    assert "No benchmark yet" in html
    assert "It needs a checkpoint." in html


def test_list_is_sorted_by_what_was_measured(viewer: Client) -> None:
    project = factories.project(slug="sorted")
    attempts = [factories.attempt(factories.run(project, stage="benchmark")) for _ in range(3)]
    for attempt, speedup in zip(attempts[:2], (1.2, 1.6), strict=True):
        factories.result(attempt, "plain")
        factories.result(attempt, "drafter", speedup=speedup)

    def order(sort: str) -> list[int]:
        answer = viewer.get("/projects/sorted/benchmarks/", {"sort": sort})
        return [attempts.index(item.attempt) for item in answer.context["benchmarks"]]

    assert order("-speedup") == [1, 0, 2]
    assert order("speedup") == [0, 1, 2]
    assert order("created") == [0, 1, 2]
    assert order("") == order("nonsense") == [2, 1, 0]
