import pytest
from django.test import Client

from eagle3web.models import Engine, Project, Run
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = factories.project(slug="p")
    dataset = factories.dataset(slug="B1")
    factories.revision(dataset)
    factories.budget(project, dataset)
    return project


def fields(engine: Engine, **changes: object) -> dict[str, object]:
    return {"engines": [engine.pk], "concurrency": 16, "order": "interleaved", "tags": "nightly, x"} | changes


def test_form_starts_a_run_with_the_projects_budgets(operator: Client, project: Project) -> None:
    answer = operator.post("/projects/p/runs/new/", fields(factories.engine(name="a"), title="First"))
    run = Run.objects.get()
    assert answer.headers["Location"] == f"/runs/{run.pk}/"
    assert (run.title, run.tags, run.status) == ("First", ["nightly", "x"], "queued")
    assert (run.config["concurrency"], run.config["order"]) == (16, "interleaved")
    assert [plan["slug"] for plan in run.config["datasets"]] == ["B1"]
    assert [engine["name"] for engine in run.config["engines"]] == ["a"]


def test_errors_are_retried_only_where_somebody_says_so(operator: Client, project: Project) -> None:
    page, engine = "/projects/p/runs/new/", factories.engine()
    assert 'type="checkbox" name="retry_errors"' in operator.get(page).content.decode()
    operator.post(page, fields(engine))
    operator.post(page, fields(engine, retry_errors="on"))
    first, second = Run.objects.order_by("pk")
    assert (first.config["retry_errors"], second.config["retry_errors"]) == (False, True)
    form = {run.pk: operator.get(f"{page}?clone={run.pk}").context["form"] for run in (first, second)}
    assert [form[run.pk]["retry_errors"].value() for run in (first, second)] == [False, True]


def test_engines_that_answer_are_chosen_already(operator: Client, project: Project) -> None:
    good, down = factories.engine(), factories.engine(state="down")
    html = operator.get("/projects/p/runs/new/").content.decode()
    assert f'value="{good.pk}" class="form-check-input" id="id_engines_0" checked' in html
    assert f'value="{down.pk}" class="form-check-input" id="id_engines_1">' in html


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"engines": []}, "A run needs at least one engine."),
        ({"concurrency": 0}, "greater than or equal to 1"),
        ({"order": "random"}, "not one of the available choices"),
        ({"host": "elsewhere"}, "not one of the available choices"),
    ],
)
def test_form_names_what_is_wrong(operator: Client, project: Project, changes: dict[str, object], reason: str) -> None:
    answer = operator.post("/projects/p/runs/new/", fields(factories.engine(), **changes))
    assert answer.status_code == 422
    assert reason in answer.content.decode()
    assert Run.objects.count() == 0


def test_project_without_budgets_says_that_there_is_nothing_to_generate(operator: Client) -> None:
    factories.project(slug="empty")
    answer = operator.post("/projects/empty/runs/new/", fields(factories.engine()))
    assert answer.status_code == 422
    assert "has no budget yet" in answer.content.decode()
