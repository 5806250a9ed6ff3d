"""Pipelines: whole chains of runs, started at once."""

from typing import Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Status

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Out, Slug
from eagle3web.api.new_runs import CONCURRENCY, Device, Naming, Preset, Settings, engines_named, training_config
from eagle3web.api.runs import RunOut, find, launch
from eagle3web.domain.chains import Chain, start_chain
from eagle3web.models import Project

router = Router(tags=["pipelines"])


class NewPipeline(Naming):
    """Generate over the project's budgets, then train and measure a drafter; a run starts when the one before is finished."""

    project: Slug
    engines: list[Slug] = Field([], max_length=100)
    """Names; empty takes every engine that is enabled."""
    concurrency: int = Field(8, ge=1, le=CONCURRENCY)
    order: Literal["sequential", "interleaved"] = "sequential"
    retry_errors: bool = False
    """Ask prompts again that gave an error in an earlier run."""
    features: Literal["extract", "online", "captured"] = "extract"
    """Hidden states stored by an extraction run, computed by the target while it trains, or kept by embedded engines that were
    started with --capture."""
    preset: Preset = "gpu"
    """Settings of training that `train` changes."""
    extract: Settings = {}
    """Keys of pipeline.extraction.config.ExtractConfig that differ from the defaults."""
    train: Settings = {}
    """Keys of pipeline.training.config.TrainConfig that differ from the preset."""
    benchmark: Settings = {}
    """Keys of pipeline.benchmark.config.BenchmarkConfig that differ from the defaults."""
    devices: list[Device] = Field([], max_length=16)
    """Devices that each stage after the generation holds alone while it works."""


class PipelineOut(Out):
    runs: list[RunOut]
    """In the order in which they will work."""


@router.post("", auth=may("add_run"), response={201: PipelineOut})
def create_pipeline(request: HttpRequest, fields: NewPipeline) -> Status[dict[str, Any]]:
    """Queue all runs of a pipeline, or none."""
    project = get_object_or_404(Project, slug=fields.project)
    chain = Chain(
        engines=engines_named(fields.engines),
        concurrency=fields.concurrency,
        order=fields.order,
        retry_errors=fields.retry_errors,
        features=fields.features,
        extract=fields.extract,
        train=training_config(fields.preset, fields.train),
        benchmark=fields.benchmark,
        devices=fields.devices,
    )
    made = start_chain(
        project,
        chain,
        user=user_of(request),
        title=fields.title,
        tags=fields.tags,
        host=fields.host,
        host_tags=fields.host_tags,
    )
    launch(made[0])
    return Status(201, {"runs": [find(run.pk) for run in made]})
