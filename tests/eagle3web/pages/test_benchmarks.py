import pytest
from django.utils import timezone

from eagle3web.models import Attempt
from eagle3web.pages.benchmarks import BenchmarkPage, BenchmarksPage, verdict
from eagle3web.pages.rights import Rights
from eagle3web.queries.benchmarks import rows_of
from tests.support import factories

pytestmark = pytest.mark.django_db
VIEWER: Rights = frozenset({"view_run"})


@pytest.fixture
def attempt() -> Attempt:
    return factories.attempt(factories.run(stage="benchmark"), summary={"verdict": "Worth it."})


def results(attempt: Attempt, *, lookup: float = 1.2, drafter: float = 1.5) -> None:
    factories.result(attempt, "plain")
    factories.result(attempt, "lookup", speedup=lookup)
    factories.result(attempt, "drafter", speedup=drafter)


@pytest.mark.parametrize(
    ("lookup", "drafter", "state"), [(1.2, 1.5, "finished"), (1.5, 1.2, "silent"), (1.2, 0.97, "failed"), (0.9, 1.0, "failed")]
)
def test_verdict_is_coloured_by_what_the_drafter_gains(attempt: Attempt, lookup: float, drafter: float, state: str) -> None:
    results(attempt, lookup=lookup, drafter=drafter)
    found = verdict(attempt, rows_of(attempt.pk))
    assert found is not None
    assert (found.text, found.state) == ("Worth it.", state)


@pytest.mark.parametrize("summary", [{}, {"verdict": ""}, {"verdict": 7}])
def test_verdict_that_is_none_is_not_shown(attempt: Attempt, summary: dict[str, object]) -> None:
    attempt.summary = summary
    assert verdict(attempt, []) is None


def test_three_modes_are_always_there(attempt: Attempt) -> None:
    html = BenchmarkPage(attempt.pk, VIEWER).read(timezone.now()).fragments["bench-stats"]
    assert [html.count(part) for part in ("Drafter", "Prompt lookup", "Plain decoding, the baseline", "not measured yet")] == [
        1, 1, 1, 3,
    ]  # fmt: skip
    results(attempt)
    html = BenchmarkPage(attempt.pk, VIEWER).read(timezone.now()).fragments["bench-stats"]
    assert "not measured yet" not in html
    assert [part for part in ("1.50×", "1.20×", "41.2") if part not in html] == []


def test_first_answer_brings_the_token_view_to_an_open_page(attempt: Attempt) -> None:
    page = BenchmarkPage(attempt.pk, VIEWER)
    assert 'data-page="none"' in page.read(timezone.now()).fragments["bench-stats"]
    factories.answer(attempt)
    assert 'data-page="answers"' in page.read(timezone.now()).fragments["bench-stats"]


def test_list_has_every_run_of_the_stage(attempt: Attempt) -> None:
    results(attempt)
    queued = factories.run(attempt.run.project, stage="benchmark", config={"drafter_name": "r7 best"})
    factories.run(attempt.run.project, stage="train")
    context = BenchmarksPage(attempt.run.project_id, VIEWER).context(timezone.now())
    assert [(item.run, item.state, item.drafter_name) for item in context["benchmarks"]] == [
        (queued, "queued", "r7 best"),
        (attempt.run, "running", ""),
    ]


def test_two_looks_while_nothing_happens_are_the_same(attempt: Attempt) -> None:
    results(attempt)
    for page in (BenchmarksPage(attempt.run.project_id, VIEWER), BenchmarkPage(attempt.pk, VIEWER)):
        assert page.read(timezone.now()).fragments == page.read(timezone.now()).fragments
