"""The restore drill: back up while a run works, lose everything, restore into another home and database, and go on."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from django.db import connection

from pipeline.artifacts import Home
from pipeline.checkpoint import save_checkpoint
from pipeline.checkpoint_check import check_folder
from pipeline.responses.reading import recount
from tests.conftest import SESSION_HOME
from tests.support import factories
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System, database_url
from tests.support.tiny_drafter import tiny
from tests.support.world import World, world

pytestmark = [pytest.mark.slow]
TOKENS = 24_000


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.4, mean_tokens=40, vocab_size=300)) as found:
        found.add("B1", prompts=2000, tokens=TOKENS)
        yield found


@pytest.fixture
def empty_database(tmp_path: Path) -> Iterator[str]:
    """The URL of a database without tables."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{tmp_path}/restored.sqlite3"
        return
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE restored")
    yield database_url().rpartition("/")[0] + "/restored"
    with connection.cursor() as cursor:
        cursor.execute("DROP DATABASE restored WITH (FORCE)")


@pytest.fixture
def elsewhere(tmp_path: Path, empty_database: str) -> Iterator[System]:
    """Another machine: a home, a broker and a database of its own, all empty."""
    home = tmp_path / "elsewhere"
    home.mkdir()
    with tempfile.TemporaryDirectory(prefix="eagle3-") as short:
        other = System(home, socket=Path(short) / "valkey.sock", static=SESSION_HOME / "static")
        other.env |= {"DATABASE_URL": empty_database, "EAGLE3_HOST": "other-host"}
        try:
            yield other
        finally:
            other.close()


def test_everything_is_back_and_goes_on(here: World, elsewhere: System, tmp_path: Path) -> None:
    saved = factories.checkpoint(
        factories.attempt(factories.run(here.project, stage="train", status="finished"), host="test-host")
    )
    Path(saved.path).parent.mkdir(parents=True)
    save_checkpoint(Path(saved.path), tiny(dtype=torch.float32).drafter, lineage={})
    run = here.start_run()
    here.wait_answers(run, 40)
    backup = tmp_path / "backup"
    assert "rows and" in here.system.manage("backup", str(backup))
    acknowledged = {name: count.answers for name, count in recount(Home(backup / "home").responses("kimi")).items()}
    assert acknowledged["B1"] >= 40
    lose_everything(here)

    assert "are back" in elsewhere.manage("restore", str(backup))
    elsewhere.start("valkey", "web", "worker", "beat")
    here.system = elsewhere
    told = here.call("GET", f"/runs/{run.pk}")
    assert (told["status"], told["shown"]["words"]) == (
        "lost", "lost: it was live when the backup was made from which this installation was restored",
    )  # fmt: skip
    (checkpoint,) = here.call("GET", "/checkpoints")["items"]
    assert Path(checkpoint["path"]).is_relative_to(elsewhere.home)
    assert check_folder(Path(checkpoint["path"])) == []
    assert here.call("GET", f"/attempts/{here.attempt(run, 1).pk}/log")["items"]

    here.call("POST", f"/runs/{run.pk}/resume")
    wait_until(lambda: status(here, run.pk) in ("finished", "failed"), "the run has ended", 120)
    assert status(here, run.pk) == "finished"
    (found,) = recount(Home(elsewhere.home).responses("kimi")).values()
    assert (found.duplicates, found.unreadable) == (0, 0)
    assert found.answers > acknowledged["B1"]
    assert TOKENS <= found.tokens < TOKENS * 1.05


def lose_everything(here: World) -> None:
    """End every process of the first system, and take its files and its rows away."""
    home = here.system.home
    here.system.close()
    for part in ("datasets", "projects", "runs"):
        shutil.rmtree(home / part)
    here.project.runs.update(status="failed")


def status(here: World, run_id: int) -> Any:  # noqa: ANN401  (JSON)
    return here.call("GET", f"/runs/{run_id}")["status"]


def test_a_second_restore_and_a_half_made_backup_are_refused(bare_system: System, elsewhere: System, tmp_path: Path) -> None:
    factories.project(slug="kimi")
    backup = tmp_path / "backup"
    bare_system.manage("backup", str(backup))
    elsewhere.manage("restore", str(backup))
    with pytest.raises(AssertionError, match="has tables already; restore into an empty one"):
        elsewhere.manage("restore", str(backup))
    (backup / "backup.json").unlink()
    with pytest.raises(AssertionError, match="it is no backup, or one that was never finished"):
        elsewhere.manage("restore", str(backup))
