"""What the engine accepts, in SGLang's names. An unknown key is refused: a setting that nobody reads cannot exist."""

import secrets
from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pipeline.errors import BadRequestError
from pipeline.serving.base import validate_ids

T = TypeVar("T", bound=BaseModel)


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class SamplingParams(_Strict):
    temperature: float = Field(default=1.0, ge=0)
    """0 is greedy."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=-1, ge=-1)
    """-1 keeps all tokens."""
    min_p: float = Field(default=0.0, ge=0, le=1)
    max_new_tokens: int = Field(default=128, ge=1)
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    """Neither the model's end tokens nor `stop_token_ids` end the answer."""
    sampling_seed: int | None = Field(default=None, ge=0, lt=2**63)
    """Equal seed, prompt and parameters give an equal answer, whatever else the engine works on."""

    @property
    def is_greedy(self) -> bool:
        return self.temperature == 0 or self.top_k == 1


class CaptureName(_Strict):
    """Which prompt a request answers: the name of the document that an engine with --capture keeps of it."""

    dataset: str
    name: str
    """The prompt's key."""


class GenerateRequest(_Strict):
    """The body of /generate: one prompt or a list of them, as token ids or as text."""

    input_ids: tuple[int, ...] | tuple[tuple[int, ...], ...] | None = None
    text: str | tuple[str, ...] | None = None
    sampling_params: SamplingParams = SamplingParams()
    rid: str | tuple[str, ...] | None = None
    stream: bool = False
    return_draft_depths: bool = False
    """Add to meta_info how many steps ahead each output token was drafted; 0 for the target's own."""
    capture: CaptureName | None = None
    """Read by an engine with --capture only."""


class CompletionRequest(_Strict):
    """The part of OpenAI's /v1/completions that a token-id prompt needs."""

    model: str = ""
    prompt: tuple[int, ...]
    max_tokens: int = Field(default=16, ge=1)
    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    top_k: int = Field(default=-1, ge=-1)
    min_p: float = Field(default=0.0, ge=0, le=1)
    seed: int | None = Field(default=None, ge=0, lt=2**63)
    stop_token_ids: tuple[int, ...] = ()
    ignore_eos: bool = False
    return_token_ids: bool = False

    @property
    def sampling_params(self) -> SamplingParams:
        return SamplingParams(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            min_p=self.min_p,
            max_new_tokens=self.max_tokens,
            stop_token_ids=self.stop_token_ids,
            ignore_eos=self.ignore_eos,
            sampling_seed=self.seed,
        )


class AbortRequest(_Strict):
    rid: str | None = None
    abort_all: bool = False


def parse(cls: type[T], raw: bytes) -> T:
    """Read a JSON body. Raises BadRequestError that names the first wrong field."""
    try:
        return cls.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise BadRequestError(f"{where}: {first['msg']}" if where else first["msg"]) from error


def request_ids(rid: str | Sequence[str] | None, count: int) -> list[str]:
    """One id a prompt: those given, numbered when one stands for several, made up when none is."""
    if rid is None:
        return [secrets.token_hex(16) for _ in range(count)]
    if isinstance(rid, str):
        return [rid] if count == 1 else [f"{rid}_{n}" for n in range(count)]
    if len(rid) != count:
        raise BadRequestError(f"{len(rid)} request ids for {count} prompts")
    return list(rid)


def check_prompt(ids: Sequence[int], sampling: SamplingParams, *, vocab_size: int, context_length: int) -> None:
    """Raises BadRequestError for a prompt that the model cannot serve; one bad id must not cost more than its request."""
    validate_ids(ids, vocab_size)
    if len(ids) >= context_length:
        raise BadRequestError(
            f"the input ({len(ids)} tokens) is longer than the model's context length ({context_length} tokens)"
        )
    if len(ids) + sampling.max_new_tokens > context_length:
        raise BadRequestError(
            f"requested token count exceeds the model's context length of {context_length} tokens: "
            f"{len(ids)} of the input and {sampling.max_new_tokens} of the answer"
        )
