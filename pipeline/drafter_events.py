"""What extraction, training and benchmarks say about themselves. Counts are absolute, never increments."""

from dataclasses import dataclass, field
from typing import ClassVar

from pipeline.event import Event


@dataclass(frozen=True, kw_only=True)
class ExtractionProgress(Event):
    """Over all datasets; at most twice a second."""

    kind: ClassVar[str] = "extraction_progress"
    documents: int
    """Answers whose states are kept, earlier attempts included."""
    total: int
    skipped: int
    """Answers that were left out; a warning names each."""
    tokens: int
    total_tokens: int
    bytes: int
    """On disk and pending."""
    total_bytes: int
    """Forecast: bytes a token × tokens."""
    agreed: int
    """Generated tokens that the stored states give back as their most likely token."""
    compared: int
    tokens_per_s: float
    eta_s: float | None


@dataclass(frozen=True, kw_only=True)
class ShardWritten(Event):
    kind: ClassVar[str] = "shard_written"
    shard: str
    documents: int
    tokens: int
    bytes: int


@dataclass(frozen=True, kw_only=True)
class StepLogged(Event):
    """One optimizer step, or the mean over those since the last one told; at most twice a second."""

    kind: ClassVar[str] = "step_logged"
    step: int
    total_steps: int
    epoch: float
    """Epochs done, with their fraction."""
    loss: float
    step_losses: tuple[float, ...]
    """Mean objective at each step k of the training-time test."""
    accuracy: tuple[float, ...]
    """acc_k; a target outside the draft vocabulary is a miss."""
    learning_rate: float
    grad_norm: float
    """Before clipping."""
    tokens: int
    """Seen by all processes so far."""
    tokens_per_s: float
    memory_bytes: int
    """Peak: of the device where there is one, else of the process."""
    eta_s: float | None


@dataclass(frozen=True, kw_only=True)
class EvalLogged(Event):
    """Teacher-forced numbers on held-out answers. The accept length is simulated and overstates decoding; bonus included."""

    kind: ClassVar[str] = "eval_logged"
    step: int
    loss: float
    accuracy: tuple[float, ...]
    accept_length: float
    documents: int
    datasets: dict[str, float] = field(default_factory=dict)
    """Simulated accept length by dataset."""


@dataclass(frozen=True, kw_only=True)
class DecodeEvalLogged(Event):
    """Held-out prompts, decoded with the drafter of this moment. Measured accept length: tokens pooled, bonus included."""

    kind: ClassVar[str] = "decode_eval_logged"
    step: int
    accept_length: float
    prompts: int
    tokens: int
    datasets: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class CheckpointSaved(Event):
    kind: ClassVar[str] = "checkpoint_saved"
    step: int
    path: str
    """The exported folder: config.json, model.safetensors, manifest.json, README.md."""
    bytes: int
    metrics: dict[str, float] = field(default_factory=dict)
    """Such as eval_loss, simulated_accept_length, accept_length (decoded)."""
    best: bool
    removed: tuple[str, ...] = ()
    """Folders of older checkpoints that were deleted for it."""


@dataclass(frozen=True, kw_only=True)
class BenchmarkMeasured(Event):
    """One pass over one dataset's prompts in one mode."""

    kind: ClassVar[str] = "benchmark_measured"
    dataset: str
    mode: str
    """plain | lookup | drafter."""
    shape: str
    """steps/topk/draft_tokens; empty for plain."""
    concurrency: int
    repetition: int
    """From 1."""
    requests: int
    tokens: int
    seconds: float
    tokens_per_s: float
    accept_length: float | None
    """None for plain."""
    done: int
    """Passes done of all."""
    total: int
    eta_s: float | None


@dataclass(frozen=True, kw_only=True)
class BenchmarkSummarised(Event):
    """One row of the result: a mode against its baseline, over all repetitions. One more for all datasets: dataset \"\"."""

    kind: ClassVar[str] = "benchmark_summarised"
    dataset: str
    mode: str
    shape: str
    concurrency: int
    requests: int
    tokens: int
    tokens_per_s: float
    """Median over repetitions, as are the latencies."""
    tokens_per_s_low: float
    tokens_per_s_high: float
    first_token_s: float | None
    inter_token_s: float | None
    speedup: float | None
    """Median over repetitions of this mode's rate over the plain rate beside it; None for plain."""
    speedup_low: float | None
    speedup_high: float | None
    accept_length: float | None
    """completion tokens / verifications, pooled over requests, bonus included."""
    acceptance: tuple[float, ...] = ()
    """Conditional acceptance by position."""
    identical: int | None = None
    """Requests whose tokens equal the plain ones; None for plain or when sampling."""


@dataclass(frozen=True, kw_only=True)
class AnswerDrafted(Event):
    """A held-out answer, token by token, with the drafts in it. Text is untrusted; at most 400 tokens are told."""

    kind: ClassVar[str] = "answer_drafted"
    dataset: str
    prompt_id: str
    prompt: str
    """Cut to 4,000 characters."""
    mode: str
    """drafter, or lookup where no drafter was measured."""
    shape: str
    pieces: tuple[str, ...]
    """Text of each token; empty where a token only ends in the middle of a character."""
    depths: tuple[int, ...]
    """For each token: 0 when the target chose it, k when it is the k-th accepted draft of its verification."""
