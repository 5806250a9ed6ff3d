"""What a caller says to start a run of any stage."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from django.core.exceptions import ValidationError
from ninja import Field
from pydantic import AfterValidator, model_validator

from eagle3web.api.base import Body, HostTag, Slug, Text
from eagle3web.domain import chains
from eagle3web.domain.plans.configs import PLANNED
from eagle3web.domain.presets import PRESETS
from eagle3web.models import Checkpoint, Engine, Project, Run, User
from eagle3web.models.tags import MOST

CONCURRENCY = 65_536
"""Requests in flight at most; whoever asks for more has made a slip."""
Tag = Annotated[Text, Field(min_length=1, max_length=40)]
Device = Annotated[str, Field(pattern=r"^(cpu|cuda(:([0-9]{1,2}|\*))?)$")]
RunId = Annotated[int, Field(ge=1, le=2**63 - 1)]
Preset = Literal["gpu", "cpu"]


def _storable(value: dict[str, Any]) -> dict[str, Any]:
    if "\\u0000" in json.dumps(value, allow_nan=False):
        raise ValueError("NUL characters cannot be stored")
    json.dumps(value, ensure_ascii=False).encode()  # half a surrogate pair is no text, and this says so
    return value


def _left_to_callers(value: dict[str, Any]) -> dict[str, Any]:
    if taken := sorted(PLANNED & set(value)):
        raise ValueError(f"{', '.join(taken)}: set by the system, from the project and the runs in sources")
    return value


Settings = Annotated[dict[str, Any], Field(max_length=100), AfterValidator(_storable), AfterValidator(_left_to_callers)]
"""Keys of a stage's config; the stage's own record says which there are."""


class Naming(Body):
    title: Annotated[Text, Field(max_length=200)] = ""
    tags: list[Tag] = Field([], max_length=20)
    host: Annotated[Text, Field(max_length=100)] = ""
    """Host to run on; empty lets any host take it that has what the run asks for."""
    host_tags: list[HostTag] | None = Field(None, max_length=MOST)
    """Tags that the host must have, all of them; null takes the project's."""


class NewRun(Naming):
    """A generation over the project's budgets, or a later stage over what other runs make."""

    project: Slug
    stage: Literal["generate", "extract", "train", "benchmark", "serve"] = "generate"
    engines: list[Slug] = Field([], max_length=100)
    """Names; empty takes every engine that is enabled. Generation only."""
    concurrency: int = Field(8, ge=1, le=CONCURRENCY)
    """Generation only."""
    order: Literal["sequential", "interleaved"] = "sequential"
    """Generation only."""
    retry_errors: bool = False
    """Ask prompts again that gave an error in an earlier run. Generation only."""
    sources: list[RunId] = Field([], max_length=20)
    """The runs that it takes from, finished or not: one generation to extract from, extractions (or one generation, online) to
    train on, one training to measure, or to draft with while serving."""
    step: int | None = Field(None, ge=0, le=2**62)
    """Of the checkpoint to measure, or to draft with; null takes the best one."""
    preset: Preset | None = None
    """Settings of training that `config` changes."""
    config: Settings = {}
    """Keys of the later stage's config (pipeline.extraction, training, benchmark) that differ from the defaults."""
    devices: list[Device] = Field([], max_length=16)
    """Devices that it holds alone while it works, such as `cuda:0`, or `cuda:*` for any free one."""

    @model_validator(mode="after")
    def fit_the_stage(self) -> Self:
        """Refuse what the stage would not read."""
        generation = {"engines", "concurrency", "order", "retry_errors"}
        others = {"config", "devices", "sources"} if self.stage == "generate" else generation
        others |= set() if self.stage in ("benchmark", "serve") else {"step"}
        others |= set() if self.stage == "train" else {"preset"}
        if given := sorted(others & self.model_fields_set):
            raise ValueError(f"a run of the stage {self.stage} takes no {', '.join(given)}")
        if self.stage in ("extract", "benchmark") and len(self.sources) != 1:
            raise ValueError("name one run in sources")
        if self.stage == "serve" and len(self.sources) > 1:
            raise ValueError("a server drafts with a checkpoint of one run")
        return self


def start(project: Project, fields: NewRun, user: User) -> Run:
    """Queue what the body describes. Raises ConfigError, and ValidationError that names unknown engines and runs."""
    named = chains.Naming(title=fields.title, tags=fields.tags, host=fields.host, host_tags=fields.host_tags)
    if fields.stage == "generate":
        engines = engines_named(fields.engines)
        return chains.start_generate(
            project, engines=engines, concurrency=fields.concurrency, order=fields.order, retry_errors=fields.retry_errors,
            user=user, **named,
        )  # fmt: skip
    named["devices"] = fields.devices
    sources = _sources(project, fields.sources)
    if fields.stage == "train":
        return chains.start_train(sources, user=user, config=training_config(fields.preset, fields.config), **named)
    if fields.stage == "serve":
        checkpoint = _checkpoint(sources[0], fields.step) if sources else None
        return chains.start_serve(project, user=user, config=fields.config, checkpoint=checkpoint, **named)
    if fields.stage == "extract":
        return chains.start_extract(sources[0], user=user, config=fields.config, **named)
    return chains.start_benchmark(sources[0], user=user, config=fields.config, step=fields.step, **named)


def training_config(preset: str | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of TrainConfig: the preset's, then the changes, objects key by key."""
    found = dict(PRESETS[preset].config) if preset else {}
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(found.get(key), Mapping)
        found[key] = {**found[key], **value} if both else value
    return found


def _sources(project: Project, numbers: list[int]) -> list[Run]:
    """The project's runs with these numbers, in this order. Raises ValidationError that names the unknown."""
    found = Run.objects.select_related("project").filter(project=project).in_bulk(numbers)
    if unknown := [str(number) for number in numbers if number not in found]:
        raise ValidationError({"sources": f"{project} has no run {', '.join(unknown)}."})
    return [found[number] for number in dict.fromkeys(numbers)]


def _checkpoint(train: Run, step: int | None) -> Checkpoint:
    """That of the step, else the best that there is. Raises ValidationError when there is none."""
    rows = Checkpoint.objects.filter(run=train, removed_at=None).order_by("step")
    found = rows.filter(step=step).last() if step is not None else rows.filter(best=True).last() or rows.last()
    if found is None:
        raise ValidationError({"sources": f"{train} has no checkpoint{'' if step is None else f' of step {step}'}."})
    return found


def engines_named(names: list[str]) -> list[Engine]:
    """The engines with these names, in this order, or all enabled ones. Raises ValidationError that names the unknown."""
    if not names:
        return list(Engine.objects.filter(enabled=True))
    found = {engine.name: engine for engine in Engine.objects.filter(name__in=names)}
    if unknown := [name for name in names if name not in found]:
        raise ValidationError({"engines": f"There is no engine named {', '.join(unknown)}."})
    return [found[name] for name in dict.fromkeys(names)]
