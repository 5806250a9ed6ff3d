"""The rows that the demo works on, and the chain that it follows."""

import json
from pathlib import Path

import pytest

from eagle3web.domain import demo, runs
from eagle3web.enums import RunStatus
from eagle3web.models import Engine, Project, Run, TokenBudget, User
from tests.support import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return demo.demo_user()


def test_demo_user_is_an_administrator_without_a_password(user: User) -> None:
    assert (user.is_superuser, user.is_staff, user.has_usable_password()) == (True, True, False)
    assert demo.demo_user() == user


def test_demo_project_gives_each_demo_dataset_a_budget(user: User) -> None:
    for slug in ("B2_code", "B1_tools", "other"):
        make.revision(make.dataset(slug=slug))
    project = demo.demo_project(model=Path("model"), budget=2000, user=user)
    rows = TokenBudget.objects.filter(project=project).order_by("position")
    assert [(row.dataset.slug, row.tokens, row.version) for row in rows] == [("B1_tools", 2000, 1), ("B2_code", 2000, 1)]


def test_demo_project_edits_the_budgets_when_called_with_another_number(user: User) -> None:
    make.revision(make.dataset(slug="B1_tools"))
    demo.demo_project(model=Path("model"), budget=2000, user=user)
    project = demo.demo_project(model=Path("model"), budget=500, user=user)
    row = TokenBudget.objects.get(project=project)
    assert (row.tokens, row.version) == (500, 2)


def test_demo_project_leaves_budgets_alone_when_called_with_none(user: User) -> None:
    make.revision(make.dataset(slug="B1_tools"))
    project = demo.demo_project(model=Path("model"), budget=None, user=user)
    assert TokenBudget.objects.get(project=project).tokens == demo.NEW_BUDGET
    TokenBudget.objects.update(tokens=601)
    demo.demo_project(model=Path("model"), budget=None, user=user)
    assert TokenBudget.objects.get(project=project).tokens == 601


@pytest.fixture
def engine(home: Path, user: User) -> Engine:
    """The demo's engine and project, with one dataset."""
    make.revision(make.dataset(slug="B1_tools"))
    demo.demo_project(model=Path("model"), budget=2000, user=user)
    return demo.demo_engine("http://127.0.0.1:1", capture=demo.capture_folder())


def set_status(run: Run, status: str) -> None:
    """As if its newest attempt had come to that."""
    if status == RunStatus.QUEUED:
        return
    make.attempt(run, status=status, config=run.config)


def test_demo_chain_trains_on_what_the_engine_captures(engine: Engine, user: User, home: Path) -> None:
    chain = demo.demo_chain(engine=engine, user=user)
    assert [run.stage for run in chain] == ["generate", "train", "benchmark"]
    assert chain[1].config["hidden"] == [str(home / "projects/smollm2-demo/hidden/captured")]
    assert {tuple(run.tags) for run in chain} == {("demo",)}


def test_demo_chain_extracts_answers_whose_states_nobody_kept(engine: Engine, user: User) -> None:
    earlier = make.run(Project.objects.get(slug=demo.PROJECT))
    make.progress(make.attempt(earlier, status="finished"), dataset="B1_tools", state="finished", done=40)
    assert [run.stage for run in demo.demo_chain(engine=engine, user=user)] == ["generate", "extract", "train", "benchmark"]


def test_demo_chain_counts_the_states_that_are_kept(engine: Engine, user: User) -> None:
    earlier = make.run(Project.objects.get(slug=demo.PROJECT))
    make.progress(make.attempt(earlier, status="finished"), dataset="B1_tools", state="finished", done=40)
    folder = demo.capture_folder()
    folder.mkdir(parents=True)
    (folder / "shard-00000.json").write_text(json.dumps({"documents": [{}] * 38}))
    assert [run.stage for run in demo.demo_chain(engine=engine, user=user)] == ["generate", "train", "benchmark"]


@pytest.mark.parametrize("status", [RunStatus.RUNNING, RunStatus.STOPPED, RunStatus.FAILED, RunStatus.LOST])
def test_demo_chain_goes_on_where_the_last_one_was_cut_short(engine: Engine, user: User, status: str) -> None:
    first = demo.demo_chain(engine=engine, user=user)
    set_status(first[0], RunStatus.FINISHED)
    set_status(first[1], status)
    runs.request_stop(first[2], user=user)
    again = demo.demo_chain(engine=engine, user=user)
    assert again == first
    live = status if status == RunStatus.RUNNING else RunStatus.QUEUED
    assert list(Run.objects.order_by("pk").values_list("status", flat=True)) == ["finished", live, "queued"]


def test_demo_chain_does_nothing_twice(engine: Engine, user: User) -> None:
    first = demo.demo_chain(engine=engine, user=user)
    for run in first:
        set_status(run, RunStatus.FINISHED)
    assert demo.demo_chain(engine=engine, user=user) == first
    assert Run.objects.count() == 3


def test_demo_chain_with_another_budget_is_a_new_one(engine: Engine, user: User) -> None:
    first = demo.demo_chain(engine=engine, user=user)
    for run in first:
        set_status(run, RunStatus.FINISHED)
    demo.demo_project(model=Path("model"), budget=9000, user=user)
    again = demo.demo_chain(engine=engine, user=user)
    assert {run.pk for run in again}.isdisjoint({run.pk for run in first})


def test_a_run_that_leads_to_no_measurement_is_no_chain(engine: Engine, user: User) -> None:
    make.run(Project.objects.get(slug=demo.PROJECT), tags=["demo"])
    assert demo.last_chain(Project.objects.get(slug=demo.PROJECT)) == []


@pytest.mark.parametrize(
    ("budget", "datasets", "minutes", "prompts", "repetitions", "tokens"),
    [
        (60, 1, 0.25, 1, 2, 8),
        (1000, 8, 0.5, 1, 2, 32),
        (2000, 8, 1.0, 1, 2, 64),
        (10_000, 8, 5.0, 2, 2, 64),
        (100_000, 8, 8.0, 4, 3, 64),
    ],
)
def test_planned_sizes_training_and_measurement_by_the_budgets(
    home: Path, user: User, budget: int, datasets: int, minutes: float, prompts: int, repetitions: int, tokens: int
) -> None:
    for n in range(1, datasets + 1):
        make.revision(make.dataset(slug=f"B{n}_set"))
    project = demo.demo_project(model=Path("model"), budget=budget, user=user)
    found = demo.planned(project, demo.demo_engine("http://127.0.0.1:1", capture=demo.capture_folder()))
    assert found.train["max_minutes"] == minutes
    assert found.benchmark == {
        "shapes": [demo.SHAPE],
        "prompts_per_dataset": prompts,
        "repetitions": repetitions,
        "sampling": {"max_new_tokens": tokens},
    }
