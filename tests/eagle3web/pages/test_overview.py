import pytest
from django.utils import timezone

from eagle3web.models import Project
from eagle3web.pages.overview import QUEUED_SHOWN, OverviewPage, _ticks
from eagle3web.pages.rights import Rights
from eagle3web.queries.standing import standings
from tests.support import factories

pytestmark = pytest.mark.django_db
NONE: Rights = frozenset()


@pytest.fixture
def project() -> Project:
    project = factories.project(name="Kimi drafter")
    attempt = factories.attempt(factories.run(project))
    for position, (slug, done) in enumerate((("B1", 17_030_000), ("B2", 4_200_000), ("B3", 0))):
        factories.budget(project, factories.dataset(slug=slug), position=position)
        state = "pending" if done == 0 else "running"
        factories.progress(
            attempt, dataset=slug, tokens=done, state=state, tokens_per_s=done / 1e6, in_flight_tokens=done / 100
        )
    return project


def test_sums_count_towards_budgets_and_no_further(project: Project) -> None:
    context = OverviewPage(project.pk, NONE).context(timezone.now())
    sums = context["sums"]
    assert (sums.words, sums.over, sums.in_flight) == (("14.20 M", "30.00 M"), 7_030_000, 212_300)
    assert context["speed"] == pytest.approx(21.23)


def test_lines_say_what_is_left(project: Project) -> None:
    lines = OverviewPage(project.pk, NONE).context(timezone.now())["lines"]
    assert [(line.done, line.goal, line.aside) for line in lines] == [
        ("17.03 M", "10.00 M", "17 tok/s"),
        ("4.20 M", "10.00 M", "4.2 tok/s"),
        ("0.00 M", "10.00 M", ""),
    ]


def test_ticks_are_round_numbers_on_the_bars_scale(project: Project) -> None:
    assert [label for _, label in _ticks(standings(project.pk))] == ["0", "5 M", "10 M", "15 M"]
    assert _ticks([]) == []


def test_two_looks_while_nothing_happens_are_the_same(project: Project) -> None:
    page = OverviewPage(project.pk, NONE)
    assert page.read(timezone.now()).fragments == page.read(timezone.now()).fragments


def test_empty_project_says_what_to_do_next() -> None:
    fragments = OverviewPage(factories.project().pk, NONE).read(timezone.now()).fragments
    assert "No budgets yet" in fragments["ov-budgets"]
    assert "Nothing runs" in fragments["ov-live"]
    assert "New run" not in fragments["ov-live"]


def test_long_queue_is_cut_and_counted_and_judged_whole(project: Project) -> None:
    factories.host(seen_at=timezone.now())
    for _ in range(QUEUED_SHOWN):
        factories.run(project)
    stuck = factories.run(project, host_tags=["h200"])
    context = OverviewPage(project.pk, NONE).context(timezone.now())
    assert (len(context["queued"]), context["queued_more"]) == (QUEUED_SHOWN, 1)
    assert [need.head for need in context["needs"]] == [f"r{stuck.pk} generate is queued for"]
