"""One answer as it is kept, and the names by which it is found."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from pipeline.artifacts import config_hash
from pipeline.config import SamplingConfig
from pipeline.errors import DataError


@dataclass(frozen=True, kw_only=True, slots=True)
class Scope:
    """Answers that count for the same budget: of one dataset revision, asked for in one way."""

    dataset: str
    revision: str
    sampling: str
    """`sampling_name` of how they were asked for."""

    @property
    def digest(self) -> bytes:
        """Eight bytes that stand for revision and sampling."""
        return hashlib.blake2b(f"{self.revision}\0{self.sampling}".encode(), digest_size=8).digest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Response:
    """One answer with the prompt that it belongs to. `(revision, sampling, key)` names it."""

    key: str
    """The prompt's key in its revision."""
    id: str
    """The prompt's label in its source; untrusted text."""
    dataset: str
    revision: str
    sampling: str
    seed: int
    """What this answer was sampled with."""
    messages: tuple[Mapping[str, Any], ...]
    """The prompt; empty when it came as token ids."""
    tools: tuple[Mapping[str, Any], ...]
    prompt_ids: tuple[int, ...]
    output_ids: tuple[int, ...]
    """As the engine sampled them, end token included; empty from an engine that returns text alone."""
    text: str
    """The answer, thinking included; untrusted."""
    finish_reason: str
    """stop | length."""
    prompt_tokens: int
    completion_tokens: int
    engine: str
    latency_s: float
    finished_at: str
    """UTC, ISO 8601."""

    def to_line(self) -> bytes:
        """ASCII only, so that no reader can split it elsewhere; newline included."""
        return json.dumps(_values(self), separators=(",", ":")).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes | str) -> "Response":
        """Raises DataError when the line is no response."""
        return cls(**_read(line, cls))


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """A prompt that gave no answer. It is not asked again unless a run is told to."""

    key: str
    id: str
    dataset: str
    revision: str
    sampling: str
    reason: str
    failed_at: str
    """UTC, ISO 8601."""

    def to_line(self) -> bytes:
        return json.dumps(asdict(self), separators=(",", ":")).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes | str) -> "Failure":
        """Raises DataError when the line is no failure."""
        return cls(**_read(line, cls))


def sampling_name(
    sampling: SamplingConfig, *, chat_template: str = "", chat_template_kwargs: Mapping[str, Any] | None = None
) -> str:
    """Eight hexadecimal digits that name a way of asking.

    A chat template and its arguments are part of it, where a run sets them: an answer with thinking is no answer to the same
    prompt without.
    """
    way: dict[str, Any] = asdict(sampling)
    if chat_template or chat_template_kwargs:
        way |= {"chat_template": chat_template, "chat_template_kwargs": dict(chat_template_kwargs or {})}
    return config_hash(way)


def record_seed(run_seed: int, key: str) -> int:
    """The sampling seed of one record: the same in every run, on every machine; 31 bits, as engines take it."""
    digest = hashlib.blake2b(f"{run_seed}\0{key}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "big") >> 1


def key_digest(key: str) -> bytes:
    """Sixteen bytes that stand for a prompt's key: the key itself where it fits, as an import's keys do."""
    raw = key.encode()
    return raw.ljust(16, b"\0") if len(raw) <= 16 else hashlib.blake2b(raw, digest_size=16).digest()


def _values(record: Any) -> dict[str, Any]:  # noqa: ANN401  (a dataclass of this file; asdict would copy every token id)
    return {f.name: getattr(record, f.name) for f in fields(record)}


def _read(line: bytes | str, cls: type[Response] | type[Failure]) -> dict[str, Any]:
    try:
        values = json.loads(line)
        names = {f.name for f in fields(cls)}
        return {name: tuple(values[name]) if isinstance(values[name], list) else values[name] for name in names}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a {cls.__name__.lower()}: {error}") from error
