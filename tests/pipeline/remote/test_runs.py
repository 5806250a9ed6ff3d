"""Runs at a shell, against a real server."""

import json
from pathlib import Path

from eagle3web.models import Run
from tests.pipeline.remote.conftest import Remote
from tests.support import factories
from tests.support.pipelines import ready_project


def test_runs_are_listed_for_people_and_for_programs(remote: Remote) -> None:
    project = factories.project(slug="kimi")
    old = factories.attempt(factories.run(project, title="first"), status="finished").run
    new = factories.attempt(factories.run(project, title="\x1b[31mred")).run
    code, out, _ = remote("runs", "--project", "kimi")
    head, *rows = out.splitlines()
    assert (code, head.split()[:4]) == (0, ["run", "stage", "state", "project"])
    assert [row.split()[0] for row in rows] == [f"r{new.pk}", f"r{old.pk}"]
    assert "\\x1b[31mred" in rows[0]
    code, out, _ = remote("runs", "--status", "finished", "--json")
    assert (code, [run["id"] for run in json.loads(out)]) == (0, [old.pk])
    assert remote("runs", "--stage", "train")[1] == "No run fits. `start` makes one.\n"


def test_show_tells_attempts_and_datasets(remote: Remote, url: str) -> None:
    attempt = factories.attempt(status="failed", reason="no engine")
    factories.progress(attempt, dataset="B3_math")
    code, out, _ = remote("show", f"r{attempt.run_id}")
    assert code == 0
    assert f"{url}/runs/{attempt.run_id}/" in out
    assert "no engine" in out
    assert "B3_math" in out
    assert "4,200,000" in out


def test_run_is_started_from_a_config_and_cloned(remote: Remote, tmp_path: Path) -> None:
    project = ready_project()
    factories.engine()
    config = tmp_path / "run.json"
    config.write_text(json.dumps({"concurrency": 3, "order": "interleaved"}))
    code, out, _ = remote("start", "generate", "--project", project.slug, "--config", config, "--title", "from a shell")
    run = Run.objects.get()
    assert (code, out.split()[:2]) == (0, [f"r{run.pk}", "generate,"])
    assert (run.title, run.config["concurrency"], run.author and run.author.username) == ("from a shell", 3, "ada")
    code, out, _ = remote("clone", run.pk, "--concurrency", 5, "--retry-errors", "--json")
    config = Run.objects.latest("pk").config
    assert (code, config["concurrency"], config["order"], config["retry_errors"]) == (0, 5, "interleaved", True)
    assert json.loads(out)["cloned_from"] == run.pk


def test_pipeline_says_every_run_that_it_made(remote: Remote) -> None:
    project = ready_project()
    factories.engine()
    code, out, err = remote("start", "pipeline", "--project", project.slug)
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == Run.objects.count() > 1


def test_wrong_key_of_a_config_is_named(remote: Remote, tmp_path: Path) -> None:
    config = tmp_path / "run.json"
    config.write_text('{"concurency": 3}')
    code, _, err = remote("start", "generate", "--project", factories.project().slug, "--config", config)
    assert code == 1
    assert "concurency" in err


def test_run_is_paused_resumed_and_stopped(remote: Remote) -> None:
    run = factories.attempt().run
    assert remote("pause", run.pk)[0] == 0
    run.refresh_from_db()
    assert run.paused
    assert remote("resume", f"r{run.pk}")[0] == 0
    run.refresh_from_db()
    assert not run.paused
    code, out, _ = remote("stop", run.pk, "--json")
    assert (code, json.loads(out)["stop_requested_by"]) == (0, "ada")


def test_failed_run_is_settled(remote: Remote) -> None:
    run = factories.attempt(status="failed").run
    assert remote("settle", run.pk)[0] == 0
    run.refresh_from_db()
    assert (run.status, run.settled_at is None) == ("failed", False)


def test_stopped_run_is_queued_again(remote: Remote) -> None:
    run = factories.attempt(status="stopped").run
    assert remote("resume", run.pk)[0] == 0
    run.refresh_from_db()
    assert run.status == "queued"
    code, _, err = remote("pause", factories.attempt(status="finished").run.pk)
    assert code == 1
    assert err.startswith("error: ")
