import pytest
from django.test import Client

from eagle3web.models import Project, Run
from tests.support import factories
from tests.support.factories import HOSTILE

pytestmark = pytest.mark.django_db
SHOWN = HOSTILE.replace("\x00", "")
"""As PostgreSQL can keep it."""


def trained(project: Project, rate: float, **fields: object) -> Run:
    config = {"optimizer": {"learning_rate": rate}, "epochs": 2, "seed": 1}
    run = factories.run(project, stage="train", config=config, **fields)
    attempt = factories.attempt(run, status="finished")
    for step in range(5):
        factories.point(attempt, "loss", 3.0 - step * rate, step=step)
        factories.point(attempt, "eval_loss", 3.1 - step * rate, step=step)
    return run


def page(client: Client, *runs: Run, more: str = "") -> str:
    answer = client.get(f"/projects/p/compare/?runs={','.join(str(run.pk) for run in runs)}{more}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_comparison_shows_differing_keys_results_and_curves(viewer: Client) -> None:
    project = factories.project(slug="p")
    first, second = trained(project, 0.1, loss=1.5, speedup=1.2), trained(project, 0.2, loss=1.4, speedup=1.6)
    html = page(viewer, first, second)
    assert "optimizer.learning_rate" in html
    assert "2 keys are the same." in html
    assert ">epochs<" not in html
    assert '<b title="The best of these">1.60×</b>' in html
    assert '<b title="The best of these">1.40</b>' in html
    assert {'id="c-eval_loss"', 'id="c-loss"'} <= set(html.replace(">", " ").split())
    assert ">epochs<" in page(viewer, first, second, more="&all=1")


def test_runs_of_different_stages_share_what_they_have(viewer: Client) -> None:
    project = factories.project(slug="p")
    bench = factories.run(project, stage="benchmark", config={"seed": 1, "repetitions": 3}, speedup=1.58)
    attempt = factories.attempt(bench, status="finished")
    for mode in ("plain", "lookup", "drafter"):
        factories.result(attempt, mode)
    generated = factories.run(project, config={"seed": 2})
    factories.progress(factories.attempt(generated), dataset="B1_glaive")
    html = page(viewer, bench, generated, trained(project, 0.1))
    assert "runs of different stages: benchmark, generate, train" in html
    assert ">seed<" in html
    assert ">repetitions<" not in html
    assert "B1_glaive" in html
    assert "accept 2.69; 1.54× to 1.61×" in html.replace("\u00a0", " ")


@pytest.mark.parametrize("query", ["", "?runs=", "?runs=x,-1,99999999999999999999", "?runs=5"])
def test_less_than_two_runs_ask_for_more(viewer: Client, query: str) -> None:
    factories.project(slug="p")
    assert "Choose two to 6 runs" in viewer.get(f"/projects/p/compare/{query}").content.decode()


def test_runs_of_other_projects_are_not_shown(viewer: Client) -> None:
    project = factories.project(slug="p")
    mine, other = factories.run(project), factories.run(title="elsewhere")
    assert "elsewhere" not in page(viewer, mine, other)


def test_hostile_text_is_text(viewer: Client) -> None:
    project = factories.project(slug="p")
    runs = [factories.run(project, title=SHOWN, config={"note": f"{SHOWN}{n}"}) for n in range(2)]
    assert "<script>alert" not in page(viewer, *runs)


def test_comparison_costs_a_bounded_number_of_queries(viewer: Client, django_assert_max_num_queries: object) -> None:
    project = factories.project(slug="p")
    runs = [trained(project, n / 10) for n in range(6)]
    with django_assert_max_num_queries(40):  # type: ignore[operator]
        page(viewer, *runs)
