"""From a queued run to a supervisor; who is second starts nothing."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from eagle3web.domain import hosts, launch, plans, procfs, runs
from eagle3web.models import Attempt, ControlMessage, DatasetProgress, Lease, Run, TokenBudget, Transition
from tests.support import factories
from tests.support.pipelines import chain_of, finish, ready_project

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _home(home: Path) -> Path:
    return home


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The supervisors that would have been started; what runs instead ends at once."""
    commands: list[list[str]] = []
    real = subprocess.Popen

    def popen(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
        if "supervise" not in command:
            return real(command, **options)
        commands.append(command)
        return real(["/bin/true"], **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    return commands


@pytest.fixture
def run() -> Run:
    project = factories.project()
    for slug in ("B1", "B2"):
        dataset = factories.dataset(slug=slug)
        factories.revision(dataset, accepted=10)
        factories.budget(project, dataset, tokens=1000)
    config = plans.generate_config(project, engines=[factories.engine()], concurrency=2, order="sequential")
    return runs.create_run(project, stage="generate", config=config, user=factories.user("ada"))


def test_launch_creates_the_attempt_and_its_folder(run: Run, started: list[list[str]]) -> None:
    attempt = launch.launch(run.pk, 1)
    assert attempt is not None
    folder = Path(settings.EAGLE3_HOME) / "runs" / str(run.pk) / "attempts" / "1"
    attempt.refresh_from_db()
    assert (attempt.number, attempt.status, attempt.run.status) == (1, "starting", "starting")
    assert (attempt.host, attempt.boot_id, attempt.folder) == ("test-host", procfs.boot_id(), str(folder))
    assert attempt.argv[1:] == ["-u", "-m", "pipeline", "generate", str(folder)]
    assert json.loads((folder / "config.json").read_text()) == attempt.config == run.config
    assert [command[1:] for command in started] == [[str(settings.BASE_DIR / "manage.py"), "supervise", str(attempt.pk)]]
    assert attempt.supervisor_pid is not None
    assert [lease.device for lease in Lease.objects.all()] == [f"responses/{run.project.slug}"]
    row = Transition.objects.get(new="starting")
    assert (row.old, row.reason, row.attempt) == ("queued", "launched on test-host", attempt)


def test_launch_lists_the_datasets_before_anything_runs(run: Run, started: list[list[str]]) -> None:
    attempt = launch.launch(run.pk, 1)
    rows = DatasetProgress.objects.filter(attempt=attempt).values_list("dataset", "position", "state", "total", "budget")
    assert list(rows) == [("B1", 0, "pending", 10, 1000), ("B2", 1, "pending", 10, 1000)]


def test_launch_shows_at_once_what_the_attempt_before_left(run: Run, started: list[list[str]]) -> None:
    first = launch.launch(run.pk, 1)
    assert first is not None
    first.datasets.filter(dataset="B1").update(tokens=800, done=7, errors=1, truncated=3, longest=200, mean_completion=114.3)
    Attempt.objects.filter(pk=first.pk).update(status="stopped")
    Lease.objects.all().delete()
    Run.objects.filter(pk=run.pk).update(status="queued")
    second = launch.launch(run.pk, 2)
    assert second is not None
    shown = second.datasets.values_list(
        "dataset", "state", "tokens", "done", "errors", "truncated", "longest", "mean_completion"
    )
    assert list(shown) == [("B1", "pending", 800, 7, 1, 3, 200, 114.3), ("B2", "pending", 0, 0, 0, 0, 0, 0.0)]


def test_launch_twice_starts_once(run: Run, started: list[list[str]]) -> None:
    assert launch.launch(run.pk, 1) is not None
    assert launch.launch(run.pk, 1) is None
    assert len(started) == 1


def test_launch_by_an_old_message_starts_nothing(run: Run, started: list[list[str]]) -> None:
    factories.attempt(run, status="failed")
    Run.objects.update(status="queued")
    assert launch.launch(run.pk, 1) is None
    run.refresh_from_db()
    assert run.status == "queued"
    assert launch.launch(run.pk, 2) is not None


@pytest.mark.parametrize("status", ["starting", "running", "stopped", "finished", "lost"])
def test_launch_of_a_run_that_is_not_queued_starts_nothing(run: Run, started: list[list[str]], status: str) -> None:
    Run.objects.update(status=status)
    assert launch.launch(run.pk, 1) is None
    assert not Attempt.objects.exists()
    assert started == []


def test_launch_for_another_host_or_a_run_that_is_gone_starts_nothing(run: Run, started: list[list[str]]) -> None:
    Run.objects.update(host="gpu-07")
    assert launch.launch(run.pk, 1) is None
    assert launch.launch(run.pk + 1, 1) is None
    assert started == []


def test_launch_waits_for_a_store_that_another_attempt_writes(run: Run, started: list[list[str]]) -> None:
    other = factories.attempt(factories.run(run.project))
    Lease.objects.create(host="", device=f"responses/{run.project.slug}", attempt=other)
    assert launch.launch(run.pk, 1) is None
    run.refresh_from_db()
    assert (run.status, run.attempts.count()) == ("queued", 0)
    Lease.objects.all().delete()
    assert launch.launch(run.pk, 1) is not None


def test_launch_of_a_run_whose_source_is_not_finished_starts_nothing(started: list[list[str]]) -> None:
    generate, extract, *_ = chain_of(ready_project())
    assert launch.launch(extract.pk, 1) is None
    extract.refresh_from_db()
    assert (extract.status, extract.attempts.count(), started) == ("queued", 0, [])
    finish(generate)
    attempt = launch.launch(extract.pk, 1)
    assert attempt is not None
    assert attempt.config["hidden"].endswith(f"/projects/kimi/hidden/{extract.pk}")
    assert not attempt.datasets.exists()


def test_launch_of_a_benchmark_without_a_checkpoint_fails_the_run(started: list[list[str]]) -> None:
    *_, train, benchmark = chain_of(ready_project())
    finish(train)
    assert launch.launch(benchmark.pk, 1) is None
    benchmark.refresh_from_db()
    assert (benchmark.status, started) == ("failed", [])


def test_launch_takes_the_budgets_of_the_moment(run: Run, started: list[list[str]]) -> None:
    TokenBudget.objects.filter(dataset__slug="B2").update(tokens=77, version=5)
    attempt = launch.launch(run.pk, 1)
    assert attempt is not None
    assert [plan["budget"] for plan in attempt.config["datasets"]] == [1000, 77]
    assert not ControlMessage.objects.exists()


def test_launch_tells_an_edit_that_came_between(run: Run, started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    before: Callable[..., dict[str, Any]] = plans.attempt_config

    def edited_meanwhile(of: Run, **options: Any) -> dict[str, Any]:
        config = before(of, **options)
        TokenBudget.objects.filter(dataset__slug="B1").update(tokens=5, version=2)
        return config

    monkeypatch.setattr(plans, "attempt_config", edited_meanwhile)
    launch.launch(run.pk, 1)
    message = ControlMessage.objects.get()
    assert (message.kind, message.payload["dataset"], message.payload["tokens"], message.payload["version"]) == (
        "set_budget", "B1", 5, 2,
    )  # fmt: skip


def test_launch_says_which_devices_it_was_given(started: list[list[str]]) -> None:
    factories.host(name="test-host", sample={"gpus": [{"index": index} for index in range(4)]})
    _generate, extract, train, _benchmark = chain_of(ready_project())
    factories.attempt(host="test-host", status="running").leases.create(host="test-host", device="cuda:0")
    for run in (extract, train):
        run.inputs.all().delete()
        Run.objects.filter(pk=run.pk).update(devices=["cuda:*"])
    extracting, training = launch.launch(extract.pk, 1), launch.launch(train.pk, 1)
    assert extracting is not None
    assert training is not None
    assert (extracting.config["device"], training.config["device"]) == ("cuda:1", "cuda:2")
    assert [lease.device for lease in training.leases.all()] == ["cuda:2"]


def test_launch_on_a_drained_host_starts_nothing(run: Run, started: list[list[str]]) -> None:
    host = factories.host(name="test-host")
    hosts.drain(host, user=None)
    assert launch.launch(run.pk, 1) is None
    run.refresh_from_db()
    assert (run.status, started) == ("queued", [])
    hosts.undrain(host, user=None)
    assert launch.launch(run.pk, 1) is not None


def test_launch_moves_the_folder_of_another_database_aside(run: Run, started: list[list[str]], home: Path) -> None:
    old = home / "runs" / str(run.pk) / "attempts" / "1"
    old.mkdir(parents=True)
    (old / "events.jsonl").write_text("old")
    attempt = launch.launch(run.pk, 1)
    assert attempt is not None
    assert not (old / "events.jsonl").exists()
    assert [(path / "events.jsonl").read_text() for path in old.parent.glob("1.before-*")] == ["old"]


def test_launch_that_cannot_write_fails_with_the_reason(run: Run, started: list[list[str]], home: Path) -> None:
    (home / "runs").write_text("in the way")
    attempt = launch.launch(run.pk, 1)
    assert attempt is not None
    run.refresh_from_db()
    assert run.status == "failed"
    assert attempt.reason.startswith("failed: it could not be started: [Errno 20] Not a directory")
    assert not Lease.objects.exists()


def test_launch_of_a_config_that_makes_no_sense_fails_the_run(run: Run, started: list[list[str]]) -> None:
    Run.objects.update(config={"of": "an older version"})
    assert launch.launch(run.pk, 1) is None
    run.refresh_from_db()
    assert run.status == "failed"
    assert Transition.objects.get(new="failed").reason.startswith("failed: config: unknown key of")


def test_git_sha_names_the_commit() -> None:
    assert len(launch.git_sha()) in {0, 40}
