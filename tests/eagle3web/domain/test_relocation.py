"""Rows that spoke of the old home speak of the new one; history stays."""

from pathlib import Path

import pytest

from eagle3web.domain import controls
from eagle3web.domain.plans.serve import last_swap
from eagle3web.domain.relocation import moved, relocate
from pipeline.control import SwapDrafter
from tests.support import factories

pytestmark = pytest.mark.django_db
OLD, NEW = Path("/srv/old"), Path("/mnt/new home")


def test_paths_below_the_old_home_move_and_others_stay() -> None:
    value = {"hidden": ["/srv/old/projects/a", "/srv/older/b"], "n": 3, "text": "see /srv/old/x", "target": "/srv/old"}
    assert moved(value, OLD, NEW) == value | {"hidden": ["/mnt/new home/projects/a", "/srv/older/b"]}


def test_rows_are_pointed_at_the_new_home() -> None:
    project = factories.project(tokenizer="/srv/old/models/kimi", target_path="/models/kimi")
    run = factories.run(project, config={"responses": "/srv/old/projects/kimi/responses"})
    attempt = factories.attempt(run, folder="/srv/old/runs/1/attempts/1", argv=["python", "/srv/old/runs/1/attempts/1"])
    checkpoint = factories.checkpoint(attempt, path="/srv/old/projects/kimi/checkpoints/1/step-000100")
    engine = factories.engine(info={"capture": "/srv/old/projects/kimi/hidden/captured"})
    swap = controls.leave(attempt, SwapDrafter(drafter=checkpoint.path, name="r1 step 100"), user=None)
    assert relocate(OLD, NEW) == 6
    for row in (project, run, attempt, checkpoint, engine, swap):
        row.refresh_from_db()
    assert (project.tokenizer, project.target_path) == ("/mnt/new home/models/kimi", "/models/kimi")
    assert run.config == {"responses": "/mnt/new home/projects/kimi/responses"}
    assert (attempt.folder, attempt.argv[1]) == ("/mnt/new home/runs/1/attempts/1", "/srv/old/runs/1/attempts/1")
    assert checkpoint.path == "/mnt/new home/projects/kimi/checkpoints/1/step-000100"
    assert engine.info == {"capture": "/mnt/new home/projects/kimi/hidden/captured"}
    assert (swap.payload, last_swap(run)) == ({"drafter": checkpoint.path, "name": "r1 step 100"}, SwapDrafter(**swap.payload))
    assert relocate(OLD, NEW) == 0
    assert relocate(NEW, NEW) == 0
