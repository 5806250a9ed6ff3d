import re

import pytest
from django.test import Client
from django.utils import timezone

from eagle3web.models import Project, Run
from pipeline.config import to_mapping
from pipeline.exclusions import Exclusions
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = factories.project(slug="p")
    for n in range(30):
        run = factories.run(project, title=f"run {n}")
        factories.progress(factories.attempt(run, status="finished", ended_at=timezone.now()), tokens=(n * 7) % 30)
    return project


def rows(html: str) -> list[int]:
    return [int(number) for number in re.findall(r'id="run-row-(\d+)"', html)]


def test_list_is_newest_first_and_pages(viewer: Client, project: Project) -> None:
    pks = list(Run.objects.order_by("-pk").values_list("pk", flat=True))
    html = viewer.get("/projects/p/runs/").content.decode()
    assert rows(html) == pks[:25]
    assert "1 to 25 of 30" in html
    assert rows(viewer.get("/projects/p/runs/?page=2").content.decode()) == pks[25:]


def test_list_sorts_by_a_metric_in_the_database(viewer: Client, project: Project) -> None:
    for run in Run.objects.all():
        Run.objects.filter(pk=run.pk).update(tokens=(run.pk * 7) % 30)
    html = viewer.get("/projects/p/runs/?sort=-tokens&cols=tokens").content.decode()
    tokens = dict(Run.objects.values_list("pk", "tokens"))
    assert [tokens[pk] for pk in rows(html)] == sorted(tokens.values(), reverse=True)[:25]
    assert 'aria-sort="descending"' in html


def test_columns_of_the_address_are_shown(viewer: Client, project: Project) -> None:
    html = viewer.get("/projects/p/runs/?cols=loss,author").content.decode()
    assert re.findall(r"<th[^>]*>\s*(?:<a[^>]*>)?([A-Z][a-z-]+(?: [a-z]+)*)", html) == ["Run", "Held-out loss", "Author"]


def test_other_columns_load_the_page_anew(viewer: Client, project: Project) -> None:
    headers = {"HX-Request": "true", "HX-Target": "runs-table", "HX-Current-URL": "http://testserver/projects/p/runs/?q=x"}
    answer = viewer.get("/projects/p/runs/?cols=loss", headers=headers)
    assert answer.headers["HX-Redirect"] == "/projects/p/runs/?cols=loss"
    assert "HX-Redirect" not in viewer.get("/projects/p/runs/?q=y", headers=headers).headers


def test_address_keeps_filter_order_and_page(viewer: Client, project: Project) -> None:
    html = viewer.get("/projects/p/runs/?q=run&sort=run&page=1").content.decode()
    assert 'value="run"' in html
    assert "?q=run&amp;sort=run&amp;page=2" in html
    assert "?q=run&amp;sort=-run" in html


def test_search_narrows_the_list(viewer: Client, project: Project) -> None:
    assert len(rows(viewer.get("/projects/p/runs/?q=run 1").content.decode())) == 11
    html = viewer.get("/projects/p/runs/?q=nothing like it").content.decode()
    assert rows(html) == []
    assert "No run matches" in html


def test_new_rows_come_by_themselves_only_into_the_newest_page(viewer: Client, project: Project) -> None:
    assert 'id="runs-rows"' in viewer.get("/projects/p/runs/").content.decode()
    for query in ("?page=2", "?sort=run", "?q=run"):
        assert 'id="runs-rows"' not in viewer.get(f"/projects/p/runs/{query}").content.decode()


def test_script_gets_the_table_alone(viewer: Client, project: Project) -> None:
    html = viewer.get("/projects/p/runs/", headers={"HX-Request": "true", "HX-Target": "runs-table"}).content.decode()
    assert html.lstrip().startswith('<div id="runs-table"')


ODD = [
    "?page=999", "?page=x", "?sort=nonsense", "?state=odd", "?since=yesterday", "?author=1", "?per_page=-1",
    "?since=0001-01-01", "?since=9999-12-31", f"?tag={'x' * 60_000}",
]  # fmt: skip


@pytest.mark.parametrize("query", ODD, ids=lambda query: query[:20])
def test_odd_addresses_do_not_break_the_page(viewer: Client, project: Project, query: str) -> None:
    assert viewer.get(f"/projects/p/runs/{query}").status_code == 200
    assert b"".join(viewer.get(f"/projects/p/runs.json{query}")).endswith(b"]\n")


def test_size_of_a_page_is_not_for_the_address_to_choose(viewer: Client, project: Project) -> None:
    for _ in range(30):
        factories.run(project)
    assert len(viewer.get("/projects/p/runs/?per_page=1000").context["table"].page) == 25


def test_list_costs_the_same_for_any_number_of_rows(
    viewer: Client, project: Project, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(28):  # type: ignore[operator]
        viewer.get("/projects/p/runs/")


def test_page_of_a_run_names_its_exclusion_list(viewer: Client) -> None:
    listed = Exclusions.of({"B1": ["a"]}, by=["ada"])
    attempt = factories.attempt(factories.run(stage="extract"), config={"exclusions": to_mapping(listed)})
    page = viewer.get(f"/runs/{attempt.run_id}/").content.decode()
    assert f"{listed.hash}</a>, decided by ada" in page
