"""Training settings that people start from: what a laptop can do in minutes, and what a GPU should do in hours."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Preset:
    label: str
    says: str
    """For whom it is."""
    config: Mapping[str, Any]
    """Keys of TrainConfig."""

    def with_changes(
        self,
        *,
        draft_vocab_size: int | None = None,
        steps: int | None = None,
        epochs: int | None = None,
        max_minutes: float | None = None,
        learning_rate: float | None = None,
        tokens_per_batch: int | None = None,
    ) -> dict[str, Any]:
        """Keys of TrainConfig; None keeps the preset's value."""
        config: dict[str, Any] = dict(self.config)
        plain = {
            "draft_vocab_size": draft_vocab_size,
            "epochs": epochs,
            "max_minutes": max_minutes,
            "tokens_per_batch": tokens_per_batch,
        }
        config |= {key: value for key, value in plain.items() if value is not None}
        if steps is not None:
            config["objective"] = config["objective"] | {"steps": steps}
        if learning_rate is not None:
            config["optimizer"] = config["optimizer"] | {"learning_rate": learning_rate}
        return config


PRESETS: dict[str, Preset] = {
    "gpu": Preset(
        label="GPU",
        says="A drafter to serve: all seven steps, 32 k draft tokens, several epochs.",
        config={
            "draft_vocab_size": 32_000,
            "objective": {"steps": 7},
            "optimizer": {"learning_rate": 1e-4},
            "tokens_per_batch": 16_384,
            "epochs": 5,
            "max_minutes": 0.0,
            "evaluation": {"every_steps": 500, "decode_every_steps": 2000},
            "saving": {"every_steps": 1000},
        },
    ),
    "cpu": Preset(
        label="CPU, minutes",
        says="A first look with a small target: four steps, cheap one-step batches between, ended by the clock.",
        config={
            # Measured on two cores: a third of one-step batches pays, more starves the later steps; a larger draft
            # vocabulary does not pay within minutes.
            "draft_vocab_size": 4096,
            "max_length": 1024,
            "objective": {"steps": 4, "one_step_share": 0.3},
            "optimizer": {"learning_rate": 1.5e-3},
            "tokens_per_batch": 1024,
            "epochs": 50,
            "max_minutes": 8.0,
            "evaluation": {"every_steps": 200, "max_documents": 64, "decode_prompts": 8, "decode_tokens": 64},
            "saving": {"every_steps": 1000, "every_minutes": 2.0},
        },
    ),
}
