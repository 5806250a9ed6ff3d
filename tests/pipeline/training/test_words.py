import logging

import pytest

from pipeline.drafter_events import CheckpointSaved, DecodeEvalLogged, EvalLogged, StepLogged
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted, StatusChanged, Warned
from pipeline.training.words import describe, progress_line

STEP = StepLogged(
    step=650,
    total_steps=6236,
    epoch=1.25,
    loss=2.31,
    step_losses=(1.0, 1.1),
    accuracy=(0.614, 0.52),
    learning_rate=8.1e-4,
    grad_norm=1.0,
    tokens=1000,
    tokens_per_s=3120.4,
    memory_bytes=1,
    eta_s=4000.0,
)


def test_progress_is_one_line() -> None:
    expected = "step 650/6,236 epoch 1.25 loss 2.310 acc .61 .52 lr 8.1e-04 3,120 tok/s ETA=1.1h"
    assert progress_line(STEP) == expected
    assert progress_line(Warned(text="x")) == ""
    assert describe(STEP) is None


@pytest.mark.parametrize(
    ("event", "level", "text"),
    [
        (
            EvalLogged(step=200, loss=2.5, accuracy=(0.5,), accept_length=1.62, documents=9, datasets={"B1": 1.5, "B2": 1.75}),
            logging.INFO,
            "step 200: held-out loss 2.500, acc .50, simulated accept length 1.620 (B1 1.50, B2 1.75)",
        ),
        (
            DecodeEvalLogged(step=200, accept_length=1.5, prompts=16, tokens=2048),
            logging.INFO,
            "step 200: decoded accept length 1.500, 2,048 tokens of 16 prompts",
        ),
        (
            CheckpointSaved(step=5, path="c/step-000005", bytes=2_500_000, best=True, removed=("c/step-000001",)),
            logging.INFO,
            "saved c/step-000005, 2.5 MB, the best so far; removed step-000001",
        ),
        (StatusChanged(text="paused", paused=True), logging.INFO, "paused"),
        (StageInterrupted(reason="by ada"), logging.INFO, "interrupted: by ada; the last checkpoint resumes it"),
        (
            StageFinished(summary={"steps": 20, "tokens": 2812, "best": "c/step-000020"}),
            logging.INFO,
            "finished: 20 steps, 2,812 tokens; best: c/step-000020",
        ),
        (StageFailed(reason="step 3: the loss is NaN"), logging.ERROR, "failed: step 3: the loss is NaN"),
        (Warned(text="careful"), logging.WARNING, "careful"),
    ],
)
def test_events_are_sentences(event: Event, level: int, text: str) -> None:
    assert describe(event) == (level, text)
