"""Settings that suit a size of machine, as parts of a TrainConfig: a start, not an optimum."""

from typing import Any

from pipeline.training.config import CheckpointConfig, EvalConfig, LossConfig, OptimizerConfig


def two_cores(*, minutes: float) -> dict[str, Any]:
    """A small target and its drafter on two CPU cores, in so many minutes: keyword arguments of TrainConfig.

    Steps of about a second, so that many fit; the training-time test is as deep as drafts are, with a quarter of the batches
    one step deep; a draft vocabulary of which a step computes all logits without the head taking most of its time.
    """
    return {
        "draft_vocab_size": 4096,
        "tokens_per_batch": 1024,
        "objective": LossConfig(steps=3, one_step_share=0.25),
        "optimizer": OptimizerConfig(learning_rate=1.5e-3),
        "evaluation": EvalConfig(
            held_out_share=0.1, every_steps=100, max_documents=48, decode_prompts=8, decode_tokens=64, draft_steps=3
        ),
        "saving": CheckpointConfig(every_steps=1_000_000, every_minutes=2.0, keep_last=1),
        "epochs": 100,
        "max_minutes": minutes,
    }
