"""Serving: the project's target, with or without a drafter that a training run made."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.conf import settings

from eagle3web.domain.plans.configs import PLANNED, target_of, to_json, validate
from eagle3web.enums import Stage
from eagle3web.models import Checkpoint, ControlMessage, Project, Run
from pipeline.artifacts import Home
from pipeline.config import from_mapping
from pipeline.control import SwapDrafter
from pipeline.errors import ConfigError
from pipeline.serve.config import ServeConfig

FOR_EXTRACTION = "for extraction"
"""`states` of a run whose server leaves hidden states: the folder follows from the run, too."""


def serve_config(
    project: Project, *, checkpoint: Checkpoint | None = None, devices: Sequence[str] = (), **chosen: Any
) -> dict[str, Any]:
    """The config that serves the project's target, drafting with `checkpoint` where there is one.

    `chosen` are keys of ServeConfig. Raises ConfigError.
    """
    if taken := sorted(PLANNED & chosen.keys()):
        raise ConfigError(f"{', '.join(taken)}: set by the system")
    found = {"project": project.slug, "target": target_of(project), "devices": list(devices)} | chosen
    if found.get("states"):
        found["states"] = FOR_EXTRACTION
    if checkpoint is not None:
        found |= drafting(checkpoint)
    return validate(Stage.SERVE, found)


def drafting(checkpoint: Checkpoint) -> dict[str, str]:
    """Keys of ServeConfig. Raises ConfigError for a checkpoint whose files are gone."""
    if checkpoint.removed_at is not None:
        raise ConfigError(f"{checkpoint} was removed from disk: there is nothing to draft with")
    name = f"r{checkpoint.run_id} step {checkpoint.step}"
    return {"drafter": checkpoint.path, "drafter_name": name, "speculation": "drafter"}


def engine_of(run: Run) -> str:
    """Name of the engine that a serve run is."""
    return str(run.config.get("engine") or f"r{run.pk}")


def with_swaps(run: Run) -> dict[str, Any]:
    """The run's own config, with the drafter that somebody last asked for, and a name for its engine."""
    config = from_mapping(ServeConfig, run.config)
    found = to_json(config) | {"engine": engine_of(run)}
    if config.states:
        found["states"] = str(Home(settings.EAGLE3_HOME).states(run.project.slug, run.pk))
    if (swap := last_swap(run)) is not None:
        found |= asdict(swap) | {"drafter_name": swap.name, "speculation": "drafter" if swap.drafter else "none"}
        del found["name"]
    return found


def last_swap(run: Run) -> SwapDrafter | None:
    """The drafter that somebody last asked for, while the run stood."""
    asked = ControlMessage.objects.filter(attempt__run=run, kind=SwapDrafter.kind).order_by("id").last()
    return SwapDrafter(**asked.payload) if asked is not None else None
