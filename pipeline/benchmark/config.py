"""The frozen config of a benchmark: the same prompts with and without a drafter."""

from dataclasses import dataclass, field
from typing import Literal

from pipeline.config import EngineRef, SamplingConfig
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError

Mode = Literal["plain", "lookup", "drafter"]
"""Plain decoding (the baseline), training-free prompt lookup (SGLang: NGRAM), and the drafter."""


@dataclass(frozen=True, kw_only=True)
class PromptSet:
    """Prompts of one dataset revision, and those that training saw."""

    dataset: str
    revision: str
    prompts: str
    """Path of the revision's prompts.jsonl."""


@dataclass(frozen=True, kw_only=True)
class ServedMode:
    """An engine that runs already, measured as one of the modes."""

    mode: Mode
    engine: EngineRef


@dataclass(frozen=True, kw_only=True)
class BenchmarkConfig:
    """`python -m pipeline benchmark`. Without `served`, embedded engines are started, one for each mode and shape."""

    project: str
    output: str
    """Folder for measured.jsonl (every request), summary.json and answers with their accepted drafts."""
    target: str
    """Folder of the transformers model and its tokenizer."""
    drafter: str = ""
    """Checkpoint folder."""
    drafter_name: str = ""
    """What the drafter is called on pages: run and step."""
    prompts: tuple[PromptSet, ...] = ()
    held_out_share: float = 0.05
    """As training chose held-out documents by name; only such prompts are measured. 1 takes all."""
    prompts_per_dataset: int = 8
    chat_template: str = ""
    chat_template_kwargs: dict[str, object] = field(default_factory=dict)
    shapes: tuple[DraftShape, ...] = (DraftShape(),)
    concurrency: tuple[int, ...] = (1,)
    sampling: SamplingConfig = field(default_factory=lambda: SamplingConfig(max_new_tokens=128, ignore_eos=False))
    repetitions: int = 3
    warmup_prompts: int = 2
    dtype: Literal["float32", "bfloat16"] = "float32"
    """Of embedded engines; float32 makes greedy answers identical with and without drafts."""
    device: str = "auto"
    served: tuple[ServedMode, ...] = ()
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.prompts:
            raise ConfigError("no prompts were chosen: there is nothing to measure")
        if self.served and "plain" not in {served.mode for served in self.served}:
            raise ConfigError("a speedup needs its baseline: name a plain engine among `served`")
        if not self.served and not self.drafter:
            raise ConfigError("name a checkpoint to measure, or engines that run already")
        if not self.shapes or not self.concurrency:
            raise ConfigError("name at least one shape of drafts, and one number of requests at once")
        if len(set(self.concurrency)) < len(self.concurrency):
            raise ConfigError("a concurrency is named twice: each is measured once")
        if min(self.repetitions, self.prompts_per_dataset, *self.concurrency) < 1 or self.warmup_prompts < 0:
            raise ConfigError("repetitions, prompts_per_dataset and concurrency must be 1 or more, warmup_prompts 0 or more")
        names = [plan.dataset for plan in self.prompts]
        if doubles := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigError(f"named twice among the prompts: {', '.join(doubles)}")
