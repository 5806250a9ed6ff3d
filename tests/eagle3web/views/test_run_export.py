import csv
import io
import json
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.test import AsyncClient, Client
from django.utils import timezone

from tests.support import factories

pytestmark = pytest.mark.django_db


def body(client: Client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return b"".join(answer).decode()


def test_csv_has_the_filtered_runs_in_the_lists_order(viewer: Client) -> None:
    project = factories.project(slug="p")
    slow, fast = (factories.run(project, speedup=value, title=f"x{value}") for value in (1.2, 1.6))
    factories.run(project, title="other")
    rows = list(csv.DictReader(io.StringIO(body(viewer, "/projects/p/runs.csv?q=x1&sort=-speedup"))))
    assert [(row["run"], row["speedup"]) for row in rows] == [(str(fast.pk), "1.6"), (str(slow.pk), "1.2")]


def test_formulas_become_text_for_spreadsheets(viewer: Client) -> None:
    project = factories.project(slug="p")
    run = factories.run(project, title='=HYPERLINK("http://x")', notes="-1+1", tags=["@cmd", "b"], loss=-0.5)
    factories.attempt(run, reason="+x")
    (row,) = csv.DictReader(io.StringIO(body(viewer, "/projects/p/runs.csv")))
    assert (row["title"], row["notes"]) == ('\'=HYPERLINK("http://x")', "'-1+1")
    assert (row["tags"], row["reason"], row["loss"]) == ("'@cmd, b", "'+x", "-0.5")


def test_json_has_values_as_they_are(viewer: Client) -> None:
    project = factories.project(slug="p")
    start = timezone.now()
    run = factories.run(project, title="=1", tags=["a"], tokens=7, author=factories.user("ada"))
    factories.attempt(run, status="finished", started_at=start, ended_at=start + timedelta(seconds=90))
    (row,) = json.loads(body(viewer, "/projects/p/runs.json"))
    assert (row["run"], row["title"], row["tags"], row["tokens"], row["worked_s"]) == (run.pk, "=1", ["a"], 7, 90.0)
    assert (row["author"], row["state"], row["loss"], row["started_at"]) == ("ada", "finished", None, start.isoformat())


def test_empty_list_is_an_empty_file(viewer: Client) -> None:
    factories.project(slug="p")
    assert json.loads(body(viewer, "/projects/p/runs.json")) == []
    assert len(body(viewer, "/projects/p/runs.csv").splitlines()) == 1


def test_export_costs_the_same_for_any_number_of_rows(viewer: Client, django_assert_max_num_queries: object) -> None:
    project = factories.project(slug="p")
    for _ in range(30):
        factories.attempt(factories.run(project), status="finished")
    with django_assert_max_num_queries(13):  # type: ignore[operator]
        assert len(json.loads(body(viewer, "/projects/p/runs.json"))) == 30


@pytest.mark.django_db(transaction=True)
async def test_export_streams_from_the_loop() -> None:
    run = await sync_to_async(factories.run)()
    client = AsyncClient()
    await client.aforce_login(await sync_to_async(factories.user)(permissions=("view_run",)))
    answer = await client.get(f"/projects/{run.project.slug}/runs.json")
    pieces = [piece async for piece in answer]  # type: ignore[attr-defined]
    assert [row["run"] for row in json.loads(b"".join(pieces))] == [run.pk]
