"""Frozen configs of the stages. An unknown key is an error, so that a setting nobody reads cannot exist."""

import dataclasses
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from pipeline.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SamplingConfig:
    """How an answer is sampled; part of a record's key."""

    temperature: float = 0.0
    """0 is greedy."""
    top_p: float = 1.0
    top_k: int = -1
    """-1 keeps all tokens."""
    min_p: float = 0.0
    max_new_tokens: int = 512
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    seed: int = 0
    """Each record's own seed is derived from this and its key."""

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise ConfigError(f"max_new_tokens is {self.max_new_tokens}; an answer has at least one token")


@dataclass(frozen=True, kw_only=True)
class DatasetPlan:
    """One dataset's share of a generation run."""

    slug: str
    revision: str
    prompts: str
    """Path of the revision's prompts.jsonl."""
    prompts_count: int | None = None
    """Rows in that file, when the manifest knows it."""
    budget: int | None = None
    """Completion tokens to reach; None means all prompts."""
    max_samples: int | None = None
    enabled: bool = True
    budget_version: int = 1
    sampling: SamplingConfig = field(default_factory=SamplingConfig)


@dataclass(frozen=True, kw_only=True)
class EngineRef:
    """An inference server to send requests to."""

    name: str
    url: str
    protocol: Literal["sglang", "openai"] = "sglang"
    model: str = ""
    """Model name that the OpenAI protocol asks for."""


@dataclass(frozen=True, kw_only=True)
class GenerateConfig:
    """`python -m pipeline generate`: prompts → responses, until each dataset's token budget is met."""

    project: str
    responses: str
    """Folder that holds one folder of response parts for each dataset."""
    tokenizer: str
    """Folder with tokenizer.json, tokenizer_config.json and the chat template."""
    chat_template: str = ""
    """Jinja source that replaces the tokenizer's own; empty keeps that one."""
    chat_template_kwargs: dict[str, Any] = field(default_factory=dict)
    """Arguments of the template, such as enable_thinking."""
    context_length: int | None = None
    """Longest prompt + answer that the engines take; None asks the engines."""
    engines: tuple[EngineRef, ...] = ()
    concurrency: int = 8
    """Requests in flight over all engines."""
    order: Literal["sequential", "interleaved"] = "sequential"
    request_timeout_s: float = 3600.0
    """Longest wait for one answer."""
    retry_errors: bool = False
    """Ask prompts again that gave an error before."""
    datasets: tuple[DatasetPlan, ...] = ()

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise ConfigError(f"concurrency is {self.concurrency}; at least one request must be in flight")


def from_mapping(cls: type[T], values: Mapping[str, Any], where: str = "config") -> T:
    """Build a frozen config from JSON values. Raises ConfigError that names the key, for unknown, missing or ill-typed ones."""
    hints = typing.get_type_hints(cls)
    known = {f.name: f for f in dataclasses.fields(cls)}  # type: ignore[arg-type]
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise ConfigError(f"{where}: unknown key {', '.join(unknown)}; known are {', '.join(known)}")
    missing = [
        name
        for name, f in known.items()
        if name not in values and f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
    ]
    if missing:
        raise ConfigError(f"{where}: {', '.join(missing)} is missing")
    return cls(**{name: _convert(hints[name], value, f"{where}.{name}") for name, value in values.items()})


def to_mapping(config: Any) -> dict[str, Any]:  # noqa: ANN401  (any config of this file)
    """The JSON form of a config: what `from_mapping` reads."""
    return dataclasses.asdict(config)


def _convert(hint: Any, value: Any, where: str) -> Any:  # noqa: ANN401  (a type hint and a JSON value)
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (types.UnionType, typing.Union):
        if value is None and type(None) in args:
            return None
        return _convert(next(a for a in args if a is not type(None)), value, where)
    if origin is Literal:
        if value not in args:
            raise ConfigError(f"{where}: {value!r} is none of {', '.join(map(str, args))}")
        return value
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        if isinstance(value, hint):
            return value
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}: an object is needed, not {value!r}")
        return from_mapping(hint, value, where)
    if origin is tuple:
        if not isinstance(value, (list, tuple)):
            raise ConfigError(f"{where}: a list is needed, not {value!r}")
        return tuple(_convert(args[0], item, f"{where}[{i}]") for i, item in enumerate(value))
    if origin is dict:
        if not isinstance(value, Mapping):
            raise ConfigError(f"{where}: an object is needed, not {value!r}")
        return dict(value)
    return _scalar(hint, value, where)


def _scalar(hint: type, value: Any, where: str) -> Any:  # noqa: ANN401  (a JSON value)
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise ConfigError(f"{where}: {value!r} is not {'a number' if hint in (int, float) else f'a {hint.__name__}'}")
    return value
