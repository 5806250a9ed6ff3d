import pytest
from django.http import QueryDict
from django.utils import timezone

from eagle3web.pages.rights import Rights
from eagle3web.pages.run_columns import number_of
from eagle3web.pages.run_list import RunListPage, view_query
from tests.support import factories

pytestmark = pytest.mark.django_db
NONE: Rights = frozenset()


def test_page_sends_rows_that_move_and_the_counts() -> None:
    project = factories.project()
    live, done = factories.run(project), factories.run(project, status="finished")
    factories.attempt(live)
    fragments = RunListPage(project.pk, 0, NONE).read(timezone.now()).fragments
    assert f"run-row-{live.pk}" in fragments
    assert f"run-row-{done.pk}" not in fragments
    assert "2 runs · 1 live" in fragments["runs-count"]


def test_rows_that_move_have_the_columns_of_their_page() -> None:
    run = factories.run(speedup=1.58)
    factories.attempt(run)

    def row(*columns: str) -> str:
        return RunListPage(run.project_id, number_of(columns), NONE).read(timezone.now()).fragments[f"run-row-{run.pk}"]

    assert "1.58×" in row("speedup")
    assert "1.58×" not in row("state")
    assert row("state", "speedup").count("<td") == row("state").count("<td") + 1


def test_view_keeps_what_the_address_says_but_not_the_page() -> None:
    assert view_query(QueryDict("q=&state=live&sort=-loss&page=3&cols=state,loss")) == "state=live&sort=-loss&cols=state,loss"
