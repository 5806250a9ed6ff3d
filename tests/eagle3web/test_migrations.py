"""Migrations run both ways, and what people and runs wrote is still there after each step forwards."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]
FIRST = ("eagle3web", "0001_initial")
ZERO = ("eagle3web", None)


@pytest.fixture(autouse=True)
def back_to_today() -> Iterator[None]:
    """Whatever a test finds, the next one has all tables."""
    yield
    migrate(*newest())


def newest() -> list[tuple[str, str]]:
    return list(MigrationExecutor(connection).loader.graph.leaf_nodes())


def migrate(*targets: tuple[str, str | None]) -> Any:  # noqa: ANN401  (models as they were then)
    """Go there; the models of that moment."""
    executor = MigrationExecutor(connection)
    executor.migrate(list(targets))
    # Of what is applied: a target of one app says nothing of the others.
    fresh = MigrationExecutor(connection)
    return fresh.loader.project_state(list(fresh.loader.applied_migrations)).apps


def rows(apps: Any) -> dict[str, int]:  # noqa: ANN401
    """Rows of every table of ours, without those that no version before had."""
    return {model.__name__: model.objects.count() for model in apps.get_app_config("eagle3web").get_models()}


def write(apps: Any) -> None:  # noqa: ANN401
    """A project with a run that worked, as the first version knew them."""
    model = {name: apps.get_model("eagle3web", name) for name in (
        "User", "Project", "Dataset", "TokenBudget", "Run", "Attempt", "Event", "DatasetProgress", "MetricPoint", "LogChunk",
        "Host", "Lease", "Transition",
    )}  # fmt: skip
    ada = model["User"].objects.create(username="ada")
    project = model["Project"].objects.create(slug="kimi", name="Kimi", target_model="k", tokenizer="/k", created_by=ada)
    dataset = model["Dataset"].objects.create(slug="B1")
    model["TokenBudget"].objects.create(project=project, dataset=dataset, tokens=1000)
    for number in range(3):
        run = model["Run"].objects.create(project=project, stage="generate", config={"n": number}, config_hash="x", author=ada)
        attempt = model["Attempt"].objects.create(run=run, number=1, status="finished", host="gpu-01", folder=f"/runs/{number}")
        model["Event"].objects.create(attempt=attempt, seq=1, t="2026-01-01T00:00:00Z", kind="stage_started")
        model["DatasetProgress"].objects.create(attempt=attempt, dataset="B1", tokens=700 + number)
        model["MetricPoint"].objects.create(attempt=attempt, name="eval_loss", t="2026-01-01T00:00:00Z", value=2.5 - number)
        model["LogChunk"].objects.create(attempt=attempt, offset=0, first_line=1, data=b"line\n")
        model["Transition"].objects.create(run=run, attempt=attempt, old="running", new="finished")
    model["Host"].objects.create(name="gpu-01")
    model["Lease"].objects.create(host="gpu-01", device="cuda:0", attempt=attempt)


def test_steps_forwards_lose_nothing_and_fill_what_is_new() -> None:
    write(migrate(FIRST))
    graph = MigrationExecutor(connection).loader.graph
    steps = [key for key in graph.forwards_plan(newest_of_ours()) if key[0] == "eagle3web" and key != FIRST]
    before = rows(migrate(FIRST))
    for step in steps:
        after = rows(migrate(step))
        assert {name: after[name] for name in before} == before
        before = after
    today = migrate(*newest())
    runs = today.get_model("eagle3web", "Run").objects.order_by("id")
    assert list(runs.values_list("tokens", "loss", "config", "host_tags")) == [
        (700 + number, 2.5 - number, {"n": number}, []) for number in range(3)
    ]
    assert all(run.queued_at == run.created_at for run in runs)
    assert today.get_model("eagle3web", "Host").objects.get().drained_at is None


def test_steps_backwards_keep_what_the_older_version_knows_and_lead_to_nothing() -> None:
    write(migrate(*newest()))
    kept = rows(migrate(FIRST))
    assert (kept["Run"], kept["Attempt"], kept["Event"], kept["LogChunk"], kept["Lease"]) == (3, 3, 3, 3, 1)
    migrate(ZERO)
    assert not [name for name in connection.introspection.table_names() if name.startswith("eagle3web_")]
    migrate(*newest())
    assert sum(rows(migrate(*newest())).values()) == 0


def newest_of_ours() -> tuple[str, str]:
    return next(key for key in newest() if key[0] == "eagle3web")
