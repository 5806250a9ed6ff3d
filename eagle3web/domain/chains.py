"""Runs that follow one another: each is made of what the one before makes, and starts when that one is finished."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypedDict, Unpack

from django.db import transaction

from eagle3web.domain import plans, runs
from eagle3web.domain.lineage import Input
from eagle3web.domain.plans.answers import revisions_of
from eagle3web.domain.storage import check_room
from eagle3web.enums import InputKind, Stage
from eagle3web.models import Checkpoint, Engine, Host, Project, Run, User
from pipeline.errors import ConfigError

Features = Literal["extract", "online", "captured"]
"""The way from answers to hidden states: stored by an extraction run, computed by the target while it trains, or kept by the
engines while they generate."""


class Naming(TypedDict, total=False):
    """What is said about a run beside its config."""

    title: str
    tags: Iterable[str]
    host: str
    host_tags: Sequence[str] | None
    devices: Sequence[str]
    cloned_from: Run | None


@dataclass(frozen=True, kw_only=True)
class Chain:
    """What a pipeline does, stage by stage."""

    engines: Sequence[Engine]
    concurrency: int = 8
    order: str = "sequential"
    retry_errors: bool = False
    features: Features = "extract"
    extract: Mapping[str, Any] = field(default_factory=dict)
    """Keys of ExtractConfig."""
    train: Mapping[str, Any] = field(default_factory=dict)
    """Keys of TrainConfig."""
    benchmark: Mapping[str, Any] = field(default_factory=dict)
    """Keys of BenchmarkConfig."""
    devices: Sequence[str] = ()
    """What extraction, training and benchmark hold, one after the other."""


def start_chain(
    project: Project,
    chain: Chain,
    *,
    user: User | None,
    title: str = "",
    tags: Iterable[str] = (),
    host: str = "",
    host_tags: Sequence[str] | None = None,
) -> list[Run]:
    """Queue all runs of a pipeline, the first one ready to start; all or none. Raises ConfigError."""
    named = Naming(title=title, tags=list(tags), host=host, host_tags=host_tags)
    with transaction.atomic():
        generate = start_generate(
            project, engines=chain.engines, concurrency=chain.concurrency, order=chain.order,
            retry_errors=chain.retry_errors, user=user, **named,
        )  # fmt: skip
        named["devices"] = chain.devices
        made = [generate]
        if chain.features == "extract":
            made.append(start_extract(generate, user=user, config=chain.extract, **named))
        captured = capture_folders(chain.engines) if chain.features == "captured" else ()
        made.append(start_train([made[-1]], user=user, config=chain.train, captured=captured, **named))
        made.append(start_benchmark(made[-1], user=user, config=chain.benchmark, **named))
    return made


def start_generate(
    project: Project,
    *,
    engines: Iterable[Engine],
    concurrency: int,
    order: str,
    retry_errors: bool = False,
    user: User | None,
    **named: Unpack[Naming],
) -> Run:
    """Queue a generation over the project's budgets. Raises ConfigError."""
    config = plans.generate_config(project, engines=engines, concurrency=concurrency, order=order, retry_errors=retry_errors)
    prompts = Input(kind=InputKind.PROMPTS, ref=revisions_of(config["datasets"]))
    return runs.create_run(project, stage=Stage.GENERATE, config=config, user=user, inputs=[prompts], **named)


def start_extract(responses: Run, *, user: User | None, config: Mapping[str, Any], **named: Unpack[Naming]) -> Run:
    """Queue an extraction from a generation run's answers; it starts when that run is finished.

    Raises ConfigError, and NoRoomError when the disk is too small for what the project's answers will take.
    """
    found = plans.extract_config(responses, devices=named.get("devices", ()), **config)
    # Shares lie beside one another where there is one host to hold them.
    spread = min(found["parts"], 1 if named.get("host") else max(1, Host.objects.count()))
    check_room(responses.project, host=named.get("host", ""), dtype=found["storage_dtype"], parts=spread)
    taken = Input(kind=InputKind.RESPONSES, source=responses, ref=revisions_of(found["datasets"]))
    return runs.create_run(responses.project, stage=Stage.EXTRACT, config=found, user=user, inputs=[taken], **named)


def start_extracts(
    responses: Run, *, parts: int, user: User | None, config: Mapping[str, Any], **named: Unpack[Naming]
) -> list[Run]:
    """Queue an extraction that `parts` runs share, each of which may work on a device or a host of its own; all or none.

    Raises what `start_extract` raises.
    """
    title = named.get("title", "")
    made = []
    with transaction.atomic():
        for part in range(1, parts + 1):
            share = {"part": part, "parts": parts}
            if parts > 1:
                named["title"] = f"{title} {part} of {parts}".lstrip()
            made.append(start_extract(responses, user=user, config={**config, **share}, **named))
    return made


def start_train(
    sources: Sequence[Run],
    *,
    user: User | None,
    config: Mapping[str, Any],
    captured: Sequence[str] = (),
    **named: Unpack[Naming],
) -> Run:
    """Queue a training on extraction runs, or on one generation run: online, or on what its engines `captured`.

    Raises ConfigError.
    """
    found = plans.train_config(sources, captured=captured, devices=named.get("devices", ()), **config)
    kind = InputKind.RESPONSES if found["source"] == "online" else InputKind.HIDDEN
    own = revisions_of(found["datasets"])
    inputs = [Input(kind=kind, source=source, ref=own or revisions_of(source.config["datasets"])) for source in sources]
    return runs.create_run(sources[0].project, stage=Stage.TRAIN, config=found, user=user, inputs=inputs, **named)


def start_serve(
    project: Project,
    *,
    user: User | None,
    config: Mapping[str, Any],
    checkpoint: Checkpoint | None = None,
    **named: Unpack[Naming],
) -> Run:
    """Queue a server of the project's target, drafting with `checkpoint` where there is one. Raises ConfigError."""
    found = plans.serve_config(project, checkpoint=checkpoint, devices=named.get("devices", ()), **config)
    taken = [Input(kind=InputKind.CHECKPOINT, source=checkpoint.run, ref={"step": checkpoint.step})] if checkpoint else []
    return runs.create_run(project, stage=Stage.SERVE, config=found, user=user, inputs=taken, **named)


def capture_folders(engines: Sequence[Engine]) -> list[str]:
    """Where these engines keep hidden states while they generate. Raises ConfigError that names one which does not."""
    for engine in engines:
        if not engine.info.get("capture"):
            raise ConfigError(f"{engine} keeps no hidden states while it generates; extract them, or train online")
    return list(dict.fromkeys(str(engine.info["capture"]) for engine in engines))


def start_benchmark(
    train: Run, *, user: User | None, config: Mapping[str, Any], step: int | None = None, **named: Unpack[Naming]
) -> Run:
    """Queue the measurement of a training run's checkpoint: that of `step`, else its best once it is finished.

    Raises ConfigError.
    """
    found = plans.benchmark_config(train, step=step, devices=named.get("devices", ()), **config)
    prompts = Input(kind=InputKind.PROMPTS, ref=revisions_of(found["prompts"]))
    # A step that is chosen is there already, also while training goes on.
    taken = Input(kind=InputKind.CHECKPOINT, source=train, ref={} if step is None else {"step": step})
    return runs.create_run(train.project, stage=Stage.BENCHMARK, config=found, user=user, inputs=[taken, prompts], **named)
