"""The rows that the demo works on, and what it says at its end."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from eagle3web.domain import demo
from eagle3web.enums import AttemptStatus, DatasetState, RunStatus
from eagle3web.models import TokenBudget, User
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
    project = demo.demo_project(tokenizer=Path("model"), budget=2000, user=user)
    rows = TokenBudget.objects.filter(project=project).order_by("position")
    assert [(row.dataset.slug, row.tokens, row.version) for row in rows] == [("B1_tools", 2000, 1), ("B2_code", 2000, 1)]


def test_demo_project_edits_the_budgets_when_called_with_another_number(user: User) -> None:
    make.revision(make.dataset(slug="B1_tools"))
    demo.demo_project(tokenizer=Path("model"), budget=2000, user=user)
    project = demo.demo_project(tokenizer=Path("model"), budget=500, user=user)
    row = TokenBudget.objects.get(project=project)
    assert (row.tokens, row.version) == (500, 2)


def test_demo_project_leaves_budgets_alone_when_called_with_none(user: User) -> None:
    make.revision(make.dataset(slug="B1_tools"))
    project = demo.demo_project(tokenizer=Path("model"), budget=None, user=user)
    assert TokenBudget.objects.get(project=project).tokens == demo.NEW_BUDGET
    TokenBudget.objects.update(tokens=601)
    demo.demo_project(tokenizer=Path("model"), budget=None, user=user)
    assert TokenBudget.objects.get(project=project).tokens == 601


@pytest.mark.parametrize(
    ("status", "same"),
    [(RunStatus.RUNNING, True), (RunStatus.STOPPED, True), (RunStatus.LOST, True), (RunStatus.FINISHED, False)],
)
def test_demo_run_goes_on_where_the_last_one_ended(user: User, status: RunStatus, same: bool) -> None:
    make.revision(make.dataset(slug="B1_tools"))
    demo.demo_project(tokenizer=Path("model"), budget=2000, user=user)
    engine = demo.demo_engine("http://127.0.0.1:1")
    first = demo.demo_run(engine=engine, user=user)
    make.attempt(first, status=status)
    second = demo.demo_run(engine=engine, user=user)
    assert (second == first) is same


def test_summary_has_one_row_for_each_dataset(user: User) -> None:
    attempt = make.attempt(status=AttemptStatus.FINISHED, versions={"python": "3.11"})
    make.progress(
        attempt,
        dataset="B1_tools",
        state=DatasetState.FINISHED,
        reason="budget_met",
        total=1239,
        done=15,
        errors=1,
        truncated=4,
        tokens=2010,
        budget=2000,
        longest=200,
    )
    found = demo.summary(attempt.run, started=datetime(2026, 1, 1, tzinfo=UTC), times={"total_s": 61.5})
    assert found["datasets"] == [
        {
            "slug": "B1_tools",
            "prompts": 1239,
            "budget": 2000,
            "tokens": 2010,
            "answers": 15,
            "errors": 1,
            "truncated": 4,
            "longest_answer": 200,
            "state": "finished: budget_met",
        }
    ]
    assert found["times"]["total_s"] == 61.5
    assert found["versions"] == {"python": "3.11", "git": attempt.git_sha}


def test_failures_name_a_run_that_did_not_finish() -> None:
    attempt = make.attempt(status=AttemptStatus.FAILED, reason="failed: disk full")
    assert demo.failures(attempt.run) == [f"run {attempt.run.pk} is failed: failed: disk full"]


def test_failures_name_a_dataset_that_did_not_end() -> None:
    attempt = make.attempt(status=AttemptStatus.FINISHED)
    make.progress(attempt, dataset="B1_tools", state=DatasetState.FINISHED)
    make.progress(attempt, dataset="B2_code", state=DatasetState.PENDING)
    assert demo.failures(attempt.run) == ["B2_code is pending"]


def test_failures_are_none_when_all_is_done() -> None:
    attempt = make.attempt(status=AttemptStatus.FINISHED)
    make.progress(attempt, state=DatasetState.SKIPPED)
    assert demo.failures(attempt.run) == []
