"""Benchmarks: the project's prompts, with and without a drafter."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings

from eagle3web.domain.plans.configs import target_of, validate
from eagle3web.domain.plans.devices import device_of
from eagle3web.domain.plans.generate import latest_revision
from eagle3web.enums import Stage
from eagle3web.models import Project, Run
from pipeline.artifacts import Home
from pipeline.benchmark.config import PromptSet
from pipeline.errors import ConfigError


def benchmark_config(train: Run, *, step: int | None = None, devices: Sequence[str] = (), **chosen: Any) -> dict[str, Any]:
    """The config that measures a training run's checkpoint: that of `step`, else the best one once the run is finished.

    `chosen` are keys of BenchmarkConfig; the sampling's length and temperature are part of them. The held-out share is
    training's own, so that no prompt is measured that the drafter saw. Raises ConfigError.
    """
    if train.stage != Stage.TRAIN:
        raise ConfigError(f"{train} is no training run: it has no drafter to measure")
    project = train.project
    prompts = _prompt_sets(project)
    if not prompts:
        raise ConfigError(f"{project} has no dataset with prompts that is switched on: there is nothing to measure")
    return validate(
        Stage.BENCHMARK,
        {
            "project": project.slug,
            "output": "",
            "target": target_of(project),
            # The folder of all its checkpoints stands for the best of them until an attempt starts.
            "drafter": _folder(train, step),
            "drafter_name": f"r{train.pk} step {step}" if step is not None else f"r{train.pk} best",
            "prompts": prompts,
            "held_out_share": train.config["evaluation"]["held_out_share"],
            "chat_template": project.chat_template,
            "chat_template_kwargs": project.chat_template_kwargs,
            "device": device_of(devices[:1]),
        }
        | chosen,
    )


def _folder(train: Run, step: int | None) -> str:
    if step is None:
        return str(Home(settings.EAGLE3_HOME).checkpoints(train.project.slug, train.pk))
    found = train.checkpoints.filter(step=step, removed_at=None).last()
    if found is None:
        raise ConfigError(f"{train} has no checkpoint of step {step}")
    return found.path


def _prompt_sets(project: Project) -> tuple[PromptSet, ...]:
    """The newest ready revisions of the datasets whose budgets are switched on, in order."""
    home = Home(settings.EAGLE3_HOME)
    budgets = project.budgets.filter(enabled=True).select_related("dataset")
    rows = ((budget.dataset.slug, latest_revision(budget)) for budget in budgets)
    return tuple(
        PromptSet(dataset=slug, revision=row.revision, prompts=str(home.dataset(slug, row.revision) / "prompts.jsonl"))
        for slug, row in rows
        if row is not None
    )
