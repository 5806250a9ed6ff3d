"""What a run is like, in the words of the form that makes another one like it."""

from collections.abc import Callable, Iterable
from typing import Any

from eagle3web.domain.plans.configs import PLANNED
from eagle3web.domain.presets import Preset
from eagle3web.enums import InputKind, Stage
from eagle3web.models import Checkpoint, Engine, Run, RunInput
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.serve.extra import written

PLANNED_ANEW = PLANNED | {
    "tokenizer", "exclusions", "source", "held_out_share", "chat_template", "chat_template_kwargs", "device", "speculation",
    "states",
}  # fmt: skip
"""Keys that follow from the project and from what a run is made of."""


def settings_of(run: Run) -> dict[str, Any]:
    """The keys of a run's config that somebody may choose."""
    return {key: value for key, value in run.config.items() if key not in PLANNED_ANEW}


def preset_of(run: Run) -> Preset:
    """A training run's settings, to start from."""
    return Preset(label=f"r{run.pk}", says="all settings of that run; the fields below change them.", config=settings_of(run))


def captured_of(run: Run, sources: Iterable[Run]) -> list[str]:
    """Folders in which engines kept the hidden states that a training run reads; none for another source than its own."""
    taken = RunInput.objects.filter(run=run, source__stage=Stage.GENERATE).values_list("source_id", flat=True)
    stored = run.config.get("source") == "stored"
    return list(run.config["hidden"]) if stored and taken and set(taken) == {source.pk for source in sources} else []


def form_values(run: Run) -> dict[str, Any]:
    """Initial values of the form of the run's stage. Two queries at most."""
    named = {"title": run.title, "tags": ", ".join(run.tags), "host": run.host, "devices": ", ".join(run.devices)}
    named["host_tags"] = ", ".join(run.host_tags)
    form = FORMS.get(Stage(run.stage))
    try:
        return named | form(run) if form else named
    except (KeyError, TypeError, AttributeError, ConfigError):
        # A config of another version, which this one's forms do not know: they keep their own defaults.
        return named


def _generate(run: Run) -> dict[str, Any]:
    engines = Engine.objects.filter(name__in=[engine["name"] for engine in run.config["engines"]], enabled=True)
    same = {name: run.config[name] for name in ("concurrency", "order")}
    return same | {"engines": list(engines), "retry_errors": run.config.get("retry_errors", False)}


def _extract(run: Run) -> dict[str, Any]:
    return {
        "source": _sources(run)[0],
        "storage_dtype": run.config["storage_dtype"],
        "parts": run.config.get("parts", 1),
        "server": run.config.get("server", "").removeprefix("r") or None,
    }


def _train(run: Run) -> dict[str, Any]:
    config = run.config
    same = ("draft_vocab_size", "epochs", "max_minutes", "tokens_per_batch")
    return {name: config[name] for name in same} | {
        "sources": _sources(run),
        "preset": CLONED,
        "steps": config["objective"]["steps"],
        "learning_rate": config["optimizer"]["learning_rate"],
    }


def _benchmark(run: Run) -> dict[str, Any]:
    config = run.config
    taken = RunInput.objects.filter(run=run, kind=InputKind.CHECKPOINT).first()
    shapes = (str(DraftShape(**shape)) for shape in config["shapes"])
    return {
        "source": taken.source_id if taken else None,
        "step": taken.ref.get("step") if taken else None,
        "shapes": ", ".join(shapes),
        "measured_concurrency": ", ".join(str(n) for n in config["concurrency"]),
        "prompts_per_dataset": config["prompts_per_dataset"],
        "max_new_tokens": config["sampling"]["max_new_tokens"],
        "repetitions": config["repetitions"],
    } | {f"served_{served['mode']}": _engine_named(served["engine"]["name"]) for served in config.get("served", ())}


def _engine_named(name: str) -> Engine | None:
    return Engine.objects.filter(name=name, enabled=True).first()


def _serve(run: Run) -> dict[str, Any]:
    config = run.config
    same = (
        "engine", "reached_as", "port", "device", "tensor_parallel", "dtype", "kv_cache_dtype", "memory_fraction",
        "max_total_tokens", "hierarchical_ratio", "context_length", "max_running", "max_queued", "drain_s",
    )  # fmt: skip
    return {name: config[name] for name in same} | {
        "checkpoint": Checkpoint.objects.filter(path=config["drafter"], removed_at=None).last() if config["drafter"] else None,
        "listen": config["host"],
        "states": "yes" if config.get("states") else "",
        "lookup": "yes" if config["speculation"] == "lookup" else "",
        "shape": str(DraftShape(**config["shape"])),
        "hierarchical_cache": "yes" if config["hierarchical_cache"] else "",
        "extra": " ".join(written(config["extra"])),
        "restart": config["restart"]["when"],
        "most": config["restart"]["most"],
    }


def _sources(run: Run) -> list[int | None]:
    return list(RunInput.objects.filter(run=run).exclude(source=None).values_list("source_id", flat=True)) or [None]


CLONED = "cloned"
"""Name of the preset that stands for the run's own settings."""
FORMS: dict[str, Callable[[Run], dict[str, Any]]] = {
    Stage.GENERATE: _generate,
    Stage.EXTRACT: _extract,
    Stage.TRAIN: _train,
    Stage.BENCHMARK: _benchmark,
    Stage.SERVE: _serve,
}
