import json
from pathlib import Path

import pytest

from eagle3web.domain import checkpoints
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import Review
from eagle3web.models import Attempt, AuditEntry, Checkpoint
from tests.support import factories, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(factories.run(stage="train"), folder=str(tmp_path / "attempt"))


def test_saved_checkpoint_has_a_row_with_its_numbers(attempt: Attempt) -> None:
    event = told.saved(attempt, 200)
    told.tell(attempt, [(1, event)])
    row = Checkpoint.objects.get()
    assert (row.project, row.run, row.attempt, row.step, row.path) == (
        attempt.run.project,
        attempt.run,
        attempt,
        200,
        event.path,
    )
    assert (row.bytes, row.best, row.promoted, row.metrics) == (58_300_000, True, False, event.metrics)


def test_only_one_of_a_run_is_the_best_and_deleted_ones_say_so(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.saved(attempt, 200)), (2, told.saved(attempt, 400))])
    told.tell(attempt, [(3, told.saved(attempt, 600, removed=(200,)))])
    found = [(row.step, row.best, row.removed_at is None) for row in Checkpoint.objects.order_by("step")]
    assert found == [(200, False, False), (400, False, True), (600, True, True)]


def test_manifest_and_model_card_are_kept_where_they_can_be_read(attempt: Attempt) -> None:
    event = told.saved(attempt, 200)
    folder = Path(event.path)
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text(json.dumps({"kind": "checkpoint", "note": "a\0b"}))
    (folder / "README.md").write_bytes(b"# Drafter \xff" + b"x" * 30_000)
    told.tell(attempt, [(1, event)])
    row = Checkpoint.objects.get()
    assert row.manifest == {"kind": "checkpoint", "note": "a␀b"}
    assert (row.card[:11], len(row.card)) == ("# Drafter �", checkpoints.CARD_LIMIT)


@pytest.mark.parametrize("body", ["[1]", "{", '"text"', '{"long": "' + "x" * checkpoints.MANIFEST_LIMIT + '"}'])
def test_manifest_that_is_none_is_left_out(attempt: Attempt, body: str) -> None:
    event = told.saved(attempt, 200)
    Path(event.path).mkdir(parents=True)
    (Path(event.path) / "manifest.json").write_text(body)
    told.tell(attempt, [(1, event)])
    assert Checkpoint.objects.get().manifest == {}


def test_promote_takes_the_place_of_the_one_before(attempt: Attempt) -> None:
    first, second = (factories.checkpoint(attempt, step=step, review=Review.APPROVED) for step in (1, 2))
    user = factories.user("ada")
    assert checkpoints.promote(first, user=user)
    assert checkpoints.promote(second, user=user)
    assert not checkpoints.promote(second, user=user)
    assert list(Checkpoint.objects.filter(promoted=True)) == [second]
    entry = AuditEntry.objects.latest("id")
    assert (entry.verb, entry.user, entry.detail) == (
        "checkpoint.promote", user, {"checkpoint": str(second), "before": str(first), "review": "approved"},
    )  # fmt: skip


def test_promote_leaves_other_projects_alone(attempt: Attempt) -> None:
    other = factories.checkpoint()
    checkpoints.promote(other, user=None, anyway=True)
    checkpoints.promote(factories.checkpoint(attempt), user=None, anyway=True)
    assert Checkpoint.objects.filter(promoted=True).count() == 2


@pytest.mark.parametrize("review", ["", Review.PROPOSED, Review.REJECTED])
def test_promote_asks_for_an_approval(attempt: Attempt, review: str) -> None:
    row = factories.checkpoint(attempt, review=review)
    with pytest.raises(checkpoints.NotApprovedError, match="not approved"):
        checkpoints.promote(row, user=None)
    assert checkpoints.promote(row, user=None, anyway=True)


def test_promote_refuses_what_was_deleted(attempt: Attempt) -> None:
    row = factories.checkpoint(attempt, removed_at=attempt.started_at)
    with pytest.raises(NotAllowedNow, match="were deleted"):
        checkpoints.promote(row, user=None)


def test_replayed_event_keeps_the_promotion(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.saved(attempt, 200))])
    checkpoints.promote(Checkpoint.objects.get(), user=None, anyway=True)
    checkpoints.record_saved(attempt, told.saved(attempt, 200), at=Checkpoint.objects.get().saved_at)
    assert Checkpoint.objects.get().promoted


def test_folder_is_found_below_the_projects_checkpoints_only(attempt: Attempt, tmp_path: Path) -> None:
    row = factories.checkpoint(attempt, folder=True)
    assert checkpoints.folder_of(row) == Path(row.path).resolve()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.json").write_text("{}")
    link = Path(row.path).with_name("step-link")
    link.symlink_to(elsewhere)
    for path in (str(elsewhere), str(link), f"{row.path}/../../../../../../elsewhere"):
        row.path = path
        with pytest.raises(checkpoints.FilesAwayError, match="outside"):
            checkpoints.folder_of(row)


def test_folder_that_is_not_here_says_where_it_is(attempt: Attempt) -> None:
    row = factories.checkpoint(attempt)
    with pytest.raises(checkpoints.FilesAwayError, match=r"not on this machine: .* on gpu-07"):
        checkpoints.folder_of(row)
    row.removed_at = row.saved_at
    with pytest.raises(checkpoints.FilesAwayError, match="Training deleted"):
        checkpoints.folder_of(row)


def test_card_is_the_folders_own_as_long_as_it_is_there(attempt: Attempt) -> None:
    row = factories.checkpoint(attempt, folder=True, card="old")
    (Path(row.path) / "README.md").write_text("new")
    assert checkpoints.card_of(row) == "new"
    (Path(row.path) / "config.json").unlink()
    assert checkpoints.card_of(row) == "old"
