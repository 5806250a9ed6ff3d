"""The frozen config of training: hidden states → checkpoints of a drafter."""

from dataclasses import dataclass, field
from math import isfinite
from typing import Literal

from pipeline.answer_sets import AnswerSet
from pipeline.errors import ConfigError
from pipeline.exclusions import Exclusions


@dataclass(frozen=True, kw_only=True)
class OptimizerConfig:
    """AdamW, warmed up linearly, then a cosine down to `final_share` of the learning rate."""

    learning_rate: float = 1e-3
    beta1: float = 0.9
    beta2: float = 0.95
    weight_decay: float = 0.0
    clip: float = 0.5
    """Largest norm of the gradient."""
    warmup_share: float = 0.03
    """Of all steps."""
    final_share: float = 0.1
    """Of the learning rate, at the last step."""

    def __post_init__(self) -> None:
        if not (isfinite(self.learning_rate) and self.learning_rate > 0 and isfinite(self.clip) and self.clip > 0):
            raise ConfigError("learning_rate and clip must be finite numbers above 0")
        if not (0 <= self.beta1 < 1 and 0 <= self.beta2 < 1):
            raise ConfigError(f"beta1 and beta2 must lie from 0 to below 1, not {self.beta1} and {self.beta2}")
        if not (0 <= self.warmup_share <= 1 and 0 <= self.final_share <= 1):
            raise ConfigError("warmup_share and final_share must lie between 0 and 1")


@dataclass(frozen=True, kw_only=True)
class LossConfig:
    """The training-time test."""

    steps: int = 7
    """K."""
    decay: float = 0.8
    """Weight of step k is decay^k."""
    objective: Literal["cross_entropy", "kl", "lk", "lk_kl"] = "cross_entropy"
    kl_weight: float = 0.5
    """w of lk_kl."""
    one_step_share: float = 0.0
    """Share of batches that train the first step alone, which are much cheaper."""

    def __post_init__(self) -> None:
        if not 0 <= self.one_step_share <= 1:
            raise ConfigError(f"one_step_share must lie between 0 and 1, not {self.one_step_share}")


@dataclass(frozen=True, kw_only=True)
class EvalConfig:
    """What is measured on held-out answers while training goes on."""

    held_out_share: float = 0.05
    """Of the documents of each dataset, chosen by their names, never trained on."""
    every_steps: int = 200
    max_documents: int = 256
    decode_every_steps: int = 0
    """Decode held-out prompts with the current drafter for real; 0: only at the end."""
    decode_prompts: int = 16
    decode_tokens: int = 128
    draft_steps: int = 3
    """Drafts for each verification in decode evals."""


@dataclass(frozen=True, kw_only=True)
class CheckpointConfig:
    """When checkpoints are saved and which are kept: the best one and the last few."""

    every_steps: int = 500
    every_minutes: float = 0.0
    """Also when so many minutes have gone by; 0: never."""
    keep_last: int = 2
    continue_from: str = ""
    """Checkpoint folder to start from; its vocabulary mapping is kept."""


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """`python -m pipeline train`."""

    project: str
    target: str
    """Folder of the transformers model: its embedding, final norm and head; online the whole model."""
    checkpoints: str
    """Folder to write step-NNNNNN folders to."""
    trust_remote_code: bool = False
    """Online: whether Python in the target's folder may be executed; the project decides, and nobody who starts a run."""
    source: Literal["stored", "online"] = "stored"
    hidden: tuple[str, ...] = ()
    """Folders of shards, when stored."""
    responses: str = ""
    """Folder that holds one folder of answers for each dataset, when online."""
    datasets: tuple[AnswerSet, ...] = ()
    """Which answers: online, of those in `responses`; stored, of the shards, where none means all."""
    exclusions: Exclusions = field(default_factory=Exclusions)
    """Answers that are not trained on, online and stored; neither are they held out."""
    feature_layers: tuple[int, ...] = ()
    """Online only: as transformers counts `hidden_states`; empty takes 2, L//2 and L−3. Shards say their own."""
    max_length: int = 4096
    """A longer document is left out."""
    draft_vocab_size: int = 32000
    intermediate_size: int = 0
    """Of the drafter's MLP; 0 takes the target's."""
    initialisation: Literal["target", "random"] = "target"
    objective: LossConfig = field(default_factory=LossConfig)
    optimizer: OptimizerConfig = field(default_factory=OptimizerConfig)
    evaluation: EvalConfig = field(default_factory=EvalConfig)
    saving: CheckpointConfig = field(default_factory=CheckpointConfig)
    tokens_per_batch: int = 4096
    """Of one process and one accumulation step."""
    accumulation: int = 1
    epochs: int = 1
    max_steps: int = 0
    """Optimizer steps; 0: as many as the epochs hold."""
    max_minutes: float = 0.0
    """Ends training early, with the learning rate scheduled by time; 0: no limit."""
    precision: Literal["auto", "bfloat16", "float32"] = "auto"
    """Of the forward pass; weights and optimizer are float32. auto: bfloat16 where the device multiplies it fast."""
    device: str = "auto"
    devices: tuple[str, ...] = ()
    """Of this host, one process on each; empty: one process on `device`, or those that torchrun started."""
    parallel: Literal["ddp", "fsdp2"] = "ddp"
    """With more than one process."""
    seed: int = 0
    log_to: tuple[Literal["mlflow", "wandb"], ...] = ()
    """Tools to tell the numbers too, where their packages are installed; TensorBoard's files are always written."""

    def __post_init__(self) -> None:
        if self.source == "stored" and not self.hidden:
            raise ConfigError("training from stored hidden states needs `hidden`, a folder of shards")
        if self.source == "online" and not (self.responses and self.datasets):
            raise ConfigError("online training needs `responses` and `datasets`")
        if min(self.epochs, self.accumulation, self.tokens_per_batch, self.objective.steps, self.draft_vocab_size) < 1:
            raise ConfigError("epochs, accumulation, tokens_per_batch, objective.steps and draft_vocab_size must be 1 or more")
