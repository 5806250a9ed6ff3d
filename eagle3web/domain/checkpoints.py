"""Checkpoints: rows that follow a training run's events, the project's choice among them, and their files."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction

from eagle3web.domain import attempts, audit, notifications
from eagle3web.domain.event_lines import clean
from eagle3web.domain.fitting import fit
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import Review
from eagle3web.models import Attempt, Checkpoint, Project, User
from eagle3web.queries import pruned
from pipeline.artifacts import Home
from pipeline.drafter_events import CheckpointSaved

MANIFEST_LIMIT = 256 * 1024
"""Bytes; a longer manifest.json is not kept."""
CARD_LIMIT = 20_000
"""Characters of README.md that are kept."""


class FilesAwayError(Exception):
    """The checkpoint's folder cannot be read here. The text says why, for a person."""


def record_saved(attempt: Attempt, event: CheckpointSaved, *, at: datetime) -> Checkpoint:
    """Take over that training saved a checkpoint; the same event twice changes nothing.

    Consequences: the row of its folder, with manifest and model card where they can be read; no other checkpoint of the run is
    the best any more, if this is; the rows of folders that were deleted for it say so;
    people are told, where it is the best of its project.
    """
    manifest, card = _read_folder(Path(event.path))
    fields: dict[str, Any] = {
        "project_id": attempt.run.project_id,
        "attempt": attempt,
        "step": fit(event.step, bits=63),
        "bytes": fit(event.bytes, bits=63),
        "metrics": event.metrics,
        "best": event.best,
        "saved_at": at,
        "removed_at": None,
    }
    fields |= {"manifest": manifest} if manifest else {}
    fields |= {"card": card} if card else {}
    rows = Checkpoint.objects.filter(run=attempt.run_id)
    if event.best:
        rows.update(best=False)
    rows.filter(path__in=[path[:500] for path in event.removed], removed_at=None).update(removed_at=at)
    row, created = Checkpoint.objects.update_or_create(run_id=attempt.run_id, path=event.path[:500], defaults=fields)
    if created:
        notifications.tell_of_checkpoint(row)
    return row


class NotApprovedError(NotAllowedNow):
    """Nobody approved the checkpoint. Whoever wants to promote it all the same says so."""


def promote(checkpoint: Checkpoint, *, user: User | None, anyway: bool = False) -> bool:
    """Make it the project's drafter. False: it is already.

    Consequences: the one that was promoted before is not any more; an AuditEntry names both, and what stood of the review;
    viewers are poked. Raises NotAllowedNow when its files are deleted, NotApprovedError without an approval or `anyway`.
    """
    with transaction.atomic():
        # One choice at a time: whoever promotes holds the project's row.
        project = Project.objects.select_for_update(no_key=True).get(pk=checkpoint.project_id)
        row = Checkpoint.objects.select_related("run").get(pk=checkpoint.pk)
        if row.promoted:
            return False
        if row.removed_at is not None:
            raise NotAllowedNow(f"the files of {row} were deleted")
        if row.review != Review.APPROVED and not anyway:
            raise NotApprovedError(f"{row} is {row.review or 'not proposed yet'}, not approved")
        before = Checkpoint.objects.filter(project=project, promoted=True).first()
        Checkpoint.objects.filter(project=project, promoted=True).update(promoted=False)
        Checkpoint.objects.filter(pk=row.pk).update(promoted=True)
        audit.record(
            user, "checkpoint.promote", row, checkpoint=str(row), before=str(before) if before else "", review=row.review
        )
        attempts.announce(row.run)
    checkpoint.promoted = True
    return True


def folder_of(checkpoint: Checkpoint) -> Path:
    """The folder with the exported files. Raises FilesAwayError where it is gone, on another host, or no place of ours."""
    if checkpoint.removed_at is not None:
        gone = pruned.of_checkpoint(checkpoint.pk)
        raise FilesAwayError(
            f"These files were pruned on {gone.decided_at:%Y-%m-%d}: {gone.policy}."
            if gone
            else "Training deleted these files to make room for better or newer ones."
        )
    root = Home(Path(settings.EAGLE3_HOME)).checkpoints(checkpoint.project.slug, checkpoint.run_id).resolve()
    path = Path(checkpoint.path).resolve()
    if root not in path.parents:
        raise FilesAwayError(
            f"The folder lies outside of the project's checkpoints: {checkpoint.path} on {checkpoint.attempt.host}."
        )
    if not (path / "config.json").is_file():
        raise FilesAwayError(f"The files are not on this machine: {checkpoint.path} on {checkpoint.attempt.host}.")
    return path


def card_of(checkpoint: Checkpoint) -> str:
    """The model card as its folder has it now, since a benchmark writes it anew; else as it was when it was saved."""
    try:
        return _read_card(folder_of(checkpoint)) or checkpoint.card
    except FilesAwayError:
        return checkpoint.card


def _read_folder(folder: Path) -> tuple[dict[str, Any], str]:
    """Manifest and model card, as far as they can be read and kept; the supervisor runs where they were written."""
    try:
        raw = (folder / "manifest.json").read_bytes()
        manifest: Any = clean(json.loads(raw)) if len(raw) <= MANIFEST_LIMIT else {}
    except (OSError, ValueError):
        manifest = {}
    return manifest if isinstance(manifest, dict) else {}, _read_card(folder)


def _read_card(folder: Path) -> str:
    try:
        with (folder / "README.md").open(encoding="utf-8", errors="replace") as file:
            return str(clean(file.read(CARD_LIMIT)))
    except OSError:
        return ""
