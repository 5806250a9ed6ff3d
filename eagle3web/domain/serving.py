"""Serve runs: the drafter that somebody puts in the place of another."""

from django.db import transaction

from eagle3web.domain import audit, controls
from eagle3web.domain.plans.serve import drafting, last_swap
from eagle3web.domain.runs import NotAllowedNow
from eagle3web.enums import RunStatus, Stage
from eagle3web.models import Attempt, Checkpoint, Project, Run, User
from pipeline.control import SwapDrafter
from pipeline.errors import ConfigError
from pipeline.server_events import DrafterSwapped


def swap_drafter(run: Run, checkpoint: Checkpoint | None, *, user: User | None) -> None:
    """Ask a live serve run to draft with another checkpoint, or with none: its server is drained and started again.

    Later attempts start with it, too. Raises NotAllowedNow when the run does not serve, ConfigError for a checkpoint of another
    project or one without files.
    """
    if run.stage != Stage.SERVE:
        raise NotAllowedNow(f"{run} serves nothing")
    if checkpoint is not None and run.config.get("states"):
        raise NotAllowedNow(f"{run} leaves hidden states for extraction, and does not draft")
    if checkpoint is not None and checkpoint.project_id != run.project_id:
        raise ConfigError(f"{checkpoint} belongs to another project")
    with transaction.atomic():
        # What is taken here is not given up meanwhile (domain.pruning holds the same row).
        Project.objects.select_for_update(no_key=True).get(pk=run.project_id)
        drafts = drafting(Checkpoint.objects.get(pk=checkpoint.pk)) if checkpoint else {"drafter": "", "drafter_name": ""}
        message = SwapDrafter(drafter=drafts["drafter"], name=drafts["drafter_name"])
        row = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if row.status not in {RunStatus.STARTING, RunStatus.RUNNING} or controls.send(row, message, user=user) is None:
            raise NotAllowedNow(f"{row} is {row.status}; only a running server can be told to draft with another checkpoint")
        audit.record(user, "run.swap_drafter", run, drafter=message.name or "none")


def drafter_folder(run: Run) -> str:
    """Of the drafter that the run is to have, as far as people asked; empty for none."""
    swap = last_swap(run)
    return str(run.config.get("drafter", "")) if swap is None else swap.drafter


def drafter_of(attempt: Attempt) -> str:
    """What the server of an attempt drafts with by now; empty for nothing."""
    swapped = attempt.counters.get(DrafterSwapped.kind)
    return str(swapped["name"] if swapped else attempt.config.get("drafter_name", ""))
