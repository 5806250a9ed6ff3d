"""What was given up, and that it is gone: also after a kill in the middle."""

import fcntl
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from eagle3web.domain import prunable, pruning, reviews
from eagle3web.domain.lineage import Input, connect
from eagle3web.enums import InputKind, Prunable, Review, Stage
from eagle3web.models import Attempt, AuditEntry, Checkpoint, Event, LogChunk, MetricPoint, Project, Pruned
from pipeline.artifacts import Home
from pipeline.errors import ConfigError
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(home: Path) -> Project:
    for kind in Prunable:
        factories.policy(kind, keep_last=0)
    return factories.project()


def ended(project: Project, stage: Stage = Stage.GENERATE, **fields: Any) -> Attempt:
    """An old attempt with a log, events, points, and the files of all that; the last of two."""
    run = factories.run(project, stage=stage)
    first = factories.old_attempt(run, **fields)
    factories.old_attempt(run, **fields)
    factories.log(first, "one\n")
    factories.event(first, "warning", text="x")
    factories.point(first, "loss", 1.0)
    return first


def files_of(attempt: Attempt, home: Path) -> list[Path]:
    folder = Home(home).attempt(attempt.run_id, attempt.number)
    folder.path.mkdir(parents=True)
    for path in (folder.log, folder.supervisor_log, folder.events, folder.config):
        path.write_text("x\n")
    return sorted(folder.path.iterdir())


def shards_of(project: Project, home: Path, **fields: Any) -> Attempt:
    counters = {"extraction_progress": {"bytes": 10, "documents": 1}}
    attempt = factories.old_attempt(factories.run(project, stage=Stage.EXTRACT), counters=counters, **fields)
    folder = Home(home).hidden(project.slug, attempt.run_id)
    folder.mkdir(parents=True)
    (folder / "shard-00000.safetensors").write_text("0123456789")
    return attempt


def old_checkpoint(project: Project, **fields: Any) -> Checkpoint:
    attempt = factories.old_attempt(factories.run(project, stage=Stage.TRAIN))
    return factories.checkpoint(attempt, folder=True, saved_at=attempt.ended_at, **fields)


def prune(project: Project) -> list[str]:
    return [str(row.kind) for row in pruning.prune(project, user=None)]


def test_rows_and_files_of_an_attempt_go_and_its_config_stays(project: Project, home: Path) -> None:
    attempt = ended(project)
    files_of(attempt, home)
    assert prune(project) == ["logs", "events", "points"]
    assert LogChunk.objects.exists()
    assert pruning.remove()
    assert [model.objects.count() for model in (LogChunk, Event, MetricPoint)] == [0, 0, 0]
    assert [path.name for path in Home(home).attempt(attempt.run_id, attempt.number).path.iterdir()] == ["config.json"]
    assert not Pruned.objects.filter(removed_at=None).exists()
    points = Pruned.objects.get(kind=Prunable.POINTS)
    assert (points.count, points.bytes) == (1, prunable.POINT_BYTES)


def test_pruning_again_finds_nothing_and_removing_again_changes_nothing(project: Project, home: Path) -> None:
    ended(project)
    shards_of(project, home)
    old_checkpoint(project)
    assert len(prune(project)) == 5
    assert pruning.remove()
    before = list(Pruned.objects.order_by("pk").values())
    assert prune(project) == []
    assert pruning.remove()
    assert list(Pruned.objects.order_by("pk").values()) == before
    assert AuditEntry.objects.filter(verb="retention.prune").count() == 5


def test_the_preview_is_what_goes(project: Project, home: Path) -> None:
    ended(project)
    shards_of(project, home)
    old_checkpoint(project)
    seen = prunable.find(project)
    rows = pruning.prune(project, user=None)
    assert [(row.kind, row.run_id, row.attempt_id, row.checkpoint_id, row.bytes, row.policy) for row in rows] == [
        (found.kind, found.run_id, found.attempt_id, found.checkpoint_id, found.bytes, found.policy) for found in seen
    ]


def test_the_audit_trail_says_who_and_how_much(project: Project, home: Path) -> None:
    user, attempt = factories.user(), shards_of(project, home)
    pruning.prune(project, user=user)
    entry = AuditEntry.objects.get(verb="retention.prune")
    assert (entry.user, entry.target) == (user, f"project {project.pk}")
    assert entry.detail == {
        "kind": "shards", "project": project.slug, "things": 1, "bytes": 10, "runs": [attempt.run_id], "more": 0,
        "policy": "shards go after 30 days (rule of all projects)",
    }  # fmt: skip


def test_a_checkpoint_s_row_is_marked_before_its_folder_goes(project: Project, home: Path) -> None:
    row = old_checkpoint(project)
    beside = Path(row.path).parent / "step-000001"
    beside.mkdir()
    assert prune(project) == ["checkpoints"]
    row.refresh_from_db()
    assert row.removed_at is not None
    assert Path(row.path).is_dir()
    assert pruning.remove()
    assert sorted(Path(row.path).parent.iterdir()) == [beside]


def test_files_of_another_host_are_left_to_it(project: Project, home: Path, settings: Settings) -> None:
    attempt = shards_of(project, home, host="gpu-9")
    assert prune(project) == ["shards"]
    assert pruning.remove()
    assert Home(home).hidden(project.slug, attempt.run_id).exists()
    assert pruning.waiting_hosts() == ["gpu-9"]
    settings.EAGLE3_HOST = "gpu-9"
    assert pruning.remove()
    assert not Home(home).hidden(project.slug, attempt.run_id).exists()
    assert pruning.waiting_hosts() == []


def test_copies_that_come_back_go_with_the_next_round(project: Project, home: Path) -> None:
    """As a host fetches them from a store, or as a backup from before brings them."""
    attempt, checkpoint = shards_of(project, home), old_checkpoint(project)
    pruning.prune(project, user=None)
    assert pruning.remove()
    folders = [Home(home).hidden(project.slug, attempt.run_id), Path(checkpoint.path)]
    for folder in folders:
        assert not folder.exists()
        folder.mkdir(parents=True)
        (folder / "back").write_text("again")
    assert pruning.remove()
    assert [folder.exists() for folder in folders] == [False, False]


@pytest.mark.parametrize("moment", ["before the rename", "before the deletion", "in the deletion"])
def test_a_kill_in_the_middle_leaves_nothing_that_looks_whole(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    """The next round ends what was begun, and until then nobody takes the folder for a whole one."""

    class Killed(BaseException):
        pass

    def die(*args: Any) -> None:
        if moment == "in the deletion":
            next(Path(args[0]).iterdir()).unlink()
        raise Killed

    attempt = shards_of(project, home)
    folder = Home(home).hidden(project.slug, attempt.run_id)
    assert prune(project) == ["shards"]
    with monkeypatch.context() as patched:
        owner, name = (Path, "rename") if moment == "before the rename" else (shutil, "rmtree")
        patched.setattr(owner, name, die)
        with pytest.raises(Killed):
            pruning.remove()
    assert folder.exists() == (moment == "before the rename")
    assert Pruned.objects.get().removed_at is None
    assert pruning.remove()
    assert list(folder.parent.iterdir()) == []
    assert Pruned.objects.get().removed_at is not None


def test_a_folder_that_cannot_be_deleted_keeps_nothing_else_from_going(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shards_of(project, home)
    row = old_checkpoint(project)
    real = shutil.rmtree

    def refuse(path: Path) -> None:
        if "hidden" in str(path):
            raise PermissionError(13, "Permission denied")
        real(path)

    prune(project)
    monkeypatch.setattr(shutil, "rmtree", refuse)
    pruning.remove()
    assert "cannot be deleted" in caplog.text
    assert not Path(row.path).exists()
    assert [str(waiting.kind) for waiting in Pruned.objects.filter(removed_at=None)] == ["shards"]


def test_no_path_of_a_row_leads_out_of_the_home(project: Project, home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    attempt = ended(project, folder=str(elsewhere))
    (elsewhere / "log.txt").write_text("not ours\n")
    for path in (str(elsewhere), "..", "/"):
        factories.checkpoint(factories.old_attempt(attempt.run), path=path, saved_at=attempt.ended_at)
    prune(project)
    assert pruning.remove()
    assert [path.name for path in elsewhere.iterdir()] == ["log.txt"]


def test_a_link_is_removed_and_what_it_leads_to_stays(project: Project, home: Path, tmp_path: Path) -> None:
    attempt = shards_of(project, home)
    folder = Home(home).hidden(project.slug, attempt.run_id)
    big = folder.rename(tmp_path / "big-disk")
    folder.symlink_to(big)
    prune(project)
    assert pruning.remove()
    assert not folder.is_symlink()
    assert big.is_dir()


def test_a_word_said_meanwhile_keeps_the_checkpoint(project: Project, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = old_checkpoint(project)
    found = prunable.find(project)
    reviews.propose(row, user=factories.user(), note="")
    monkeypatch.setattr(prunable, "find", lambda *_args, **_kinds: found)
    assert prune(project) == []
    row.refresh_from_db()
    assert (row.removed_at, row.review) == (None, Review.PROPOSED)


def test_nothing_is_made_of_hidden_states_that_are_pruned(project: Project, home: Path) -> None:
    attempt = shards_of(project, home)
    prune(project)
    train = factories.run(project, stage=Stage.TRAIN)
    day = f"{timezone.now():%d %B %Y}"
    with pytest.raises(ConfigError, match=f"the hidden states of {attempt.run} were pruned on {day}; extract anew"):
        connect(train, [Input(kind=InputKind.HIDDEN, source=attempt.run)])


def test_prune_all_does_nothing_while_no_rule_is_on(home: Path) -> None:
    factories.policy(Prunable.LOGS, enabled=False)
    ended(factories.project())
    assert pruning.prune_all() == []


def test_a_round_ends_after_its_time_and_the_next_goes_on(
    project: Project, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    attempt = ended(project)
    for step in range(5):
        factories.point(attempt, "loss", 1.0, step=step)
    monkeypatch.setattr(pruning, "BATCH", 2)
    prune(project)
    assert not pruning.remove(time_s=0)
    rounds = 1
    while not pruning.remove(time_s=0):
        rounds += 1
    assert rounds > 1
    assert Pruned.objects.get(kind=Prunable.POINTS).count == 6
    assert not MetricPoint.objects.exists()


def test_two_on_one_host_do_not_delete_the_same_folder_at_once(project: Project, home: Path) -> None:
    attempt = shards_of(project, home)
    prune(project)
    with (home / "prune.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert pruning.remove()
        assert Home(home).hidden(project.slug, attempt.run_id).exists()
    assert pruning.remove()
    assert not Home(home).hidden(project.slug, attempt.run_id).exists()
