"""The frozen config of extraction: answers → hidden states in shards."""

from dataclasses import dataclass, field
from typing import Literal

from pipeline.answer_sets import AnswerSet
from pipeline.errors import ConfigError
from pipeline.exclusions import Exclusions


@dataclass(frozen=True, kw_only=True)
class ExtractConfig:
    """`python -m pipeline extract`: the target reads each answer once, and its hidden states are kept."""

    project: str
    responses: str
    """Folder that holds one folder of answers for each dataset."""
    datasets: tuple[AnswerSet, ...]
    hidden: str
    """Folder to write shards to."""
    target: str
    """Folder of the transformers model."""
    feature_layers: tuple[int, ...] = ()
    """As transformers counts `hidden_states`; empty takes 2, L//2 and L−3."""
    storage_dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16"
    """Of the states on disk."""
    compute_dtype: Literal["auto", "bfloat16", "float32"] = "auto"
    """Of the target while it reads; auto: bfloat16 on a GPU, float32 on a CPU."""
    device: str = "auto"
    """auto, cpu, cuda, cuda:N, or `map` for a target that spans several GPUs."""
    server: str = ""
    """Address of an SGLang server that holds the target, http://HOST:PORT; empty loads it here."""
    states: str = ""
    """Folder in which that server leaves hidden states, as this process sees it."""
    batch_tokens: int = 4096
    """Most tokens, padding included, that the target reads at once."""
    max_length: int = 4096
    """Longest prompt + answer; a longer one is left out and named."""
    shard_bytes: int = 256 << 20
    part: int = 1
    """Of several workers that share the answers: this one's number, from 1 on."""
    parts: int = 1
    """How many share them; each writes to a folder of its own."""
    trust_remote_code: bool = False
    """Whether Python in the target's folder may be executed; the project decides, and nobody who starts a run."""
    exclusions: Exclusions = field(default_factory=Exclusions)
    """Answers that are not read."""

    def __post_init__(self) -> None:
        if not 1 <= self.part <= self.parts:
            raise ConfigError(f"part {self.part} of {self.parts}: parts are counted from 1")
        if bool(self.server) != bool(self.states):
            raise ConfigError("a server goes with the folder in which it leaves hidden states: name both, or none")
        if not self.datasets:
            raise ConfigError("no dataset was chosen: there is nothing to extract from")
        if self.batch_tokens < 1 or self.max_length < 3 or self.shard_bytes < 1:
            raise ConfigError("batch_tokens, max_length and shard_bytes must be positive (an answer needs 3 tokens)")
