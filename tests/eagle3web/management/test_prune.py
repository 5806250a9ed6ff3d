"""`manage.py prune`: shows, and removes only when it is told to."""

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from eagle3web.enums import Prunable, Stage
from eagle3web.models import LogChunk, Project, Pruned
from pipeline.artifacts import Home
from tests.support import factories
from tests.support.servers import wait_until
from tests.support.system import ROOT, System


def said(*args: str) -> list[str]:
    out = StringIO()
    call_command("prune", *args, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def project(home: Path, db: None) -> Project:
    factories.policy(Prunable.LOGS, days=90)
    project = factories.project(slug="k2")
    run = factories.run(project)
    for _ in range(2):
        factories.log(factories.old_attempt(run), "x" * 2000)
    return project


@pytest.mark.parametrize("args", [(), ("--dry-run",), ("--project", "k2")])
def test_it_shows_what_and_how_much_and_removes_nothing(project: Project, args: tuple[str, ...]) -> None:
    run = project.runs.get()
    assert said(*args) == [
        "k2: logs go after 90 days, the last attempt of each run stays (rule of all projects)",
        "  1 thing, 2.0 kB of 1 run",
        f"    r{run.pk}: 1 thing, 2.0 kB",
        "Nothing was removed; --yes removes what is shown.",
    ]
    assert LogChunk.objects.count() == 2


def test_yes_removes_it_and_the_second_time_there_is_nothing(project: Project) -> None:
    assert said("--yes")[1] == "  1 thing, 2.0 kB of 1 run"
    assert LogChunk.objects.count() == 1
    assert said("--yes")[1:] == ["  0 things, 0 B of 0 runs"]


def test_other_kinds_and_projects_are_left_alone(project: Project) -> None:
    factories.project(slug="other")
    assert said("--yes", "--kind", "points", "--project", "other") == ["other: no rule is switched on"]
    assert LogChunk.objects.count() == 2


def test_what_lies_on_another_host_is_named(project: Project) -> None:
    project.runs.get().attempts.update(host="gpu-9")
    assert said("--yes")[-1] == "What lies on gpu-9 is removed by its worker."


def test_an_unknown_project_is_an_error(db: None) -> None:
    with pytest.raises(CommandError, match=r"There is no project nope\."):
        said("--project", "nope")


@pytest.mark.slow
def test_kill_9_in_the_middle_leaves_a_thing_that_is_given_up_and_the_next_prune_ends_it(bare_system: System) -> None:
    factories.policy(Prunable.SHARDS, keep_last=0)
    counters = {"extraction_progress": {"bytes": 10, "documents": 1}}
    attempt = factories.old_attempt(factories.run(stage=Stage.EXTRACT), counters=counters)
    folder = Home(bare_system.home).hidden(attempt.run.project.slug, attempt.run_id)
    folder.mkdir(parents=True)
    for number in range(25_000):
        (folder / f"shard-{number:05}.json").touch()
    hidden = folder.with_name(f".pruned-{folder.name}")
    command = [sys.executable, "manage.py", "prune", "--yes"]
    process = subprocess.Popen(command, cwd=ROOT, env=bare_system.env, stdout=subprocess.DEVNULL)
    wait_until(hidden.exists, "the folder is out of sight")
    process.kill()
    process.wait()
    assert hidden.exists()
    assert not folder.exists()
    row = Pruned.objects.get()
    assert (row.run_id, row.removed_at) == (attempt.run_id, None)
    subprocess.run(command, cwd=ROOT, env=bare_system.env, check=True, stdout=subprocess.DEVNULL)
    assert list(folder.parent.iterdir()) == []
    assert Pruned.objects.get().removed_at is not None
