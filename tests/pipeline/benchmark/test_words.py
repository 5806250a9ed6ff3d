import logging

import pytest

from pipeline.benchmark.words import describe
from pipeline.drafter_events import BenchmarkMeasured, BenchmarkSummarised
from pipeline.event import Event
from pipeline.events import StageFailed, StageFinished, StageInterrupted, StageStarted, StatusChanged, Warned

MEASURED = BenchmarkMeasured(
    dataset="B1",
    mode="drafter",
    shape="3/1/4",
    concurrency=2,
    repetition=1,
    requests=8,
    tokens=1024,
    seconds=12.0,
    tokens_per_s=85.333,
    accept_length=1.62,
    done=7,
    total=36,
    eta_s=190.0,
)
PLAIN = BenchmarkMeasured(**vars(MEASURED) | {"mode": "plain", "shape": "", "accept_length": None, "eta_s": 4000.0})


@pytest.mark.parametrize(
    ("event", "level", "text"),
    [
        (
            MEASURED,
            logging.INFO,
            "7/36 B1 drafter 3/1/4, 2 at once: 1,024 tokens at 85.3 tokens/s, accept length 1.62, ETA 3.2min",
        ),
        (PLAIN, logging.INFO, "7/36 B1 plain, 2 at once: 1,024 tokens at 85.3 tokens/s, ETA 1.1h"),
        (StageStarted(stage="benchmark", config_hash="c", inputs={"B1": "r1"}), logging.INFO, "started: B1 r1"),
        (StatusChanged(text="loading the engine for plain"), logging.INFO, "loading the engine for plain"),
        (Warned(text="few prompts"), logging.WARNING, "few prompts"),
        (StageFailed(reason="no engine"), logging.ERROR, "failed: no engine; what was measured is kept"),
        (StageInterrupted(reason="stopped by ada"), logging.INFO, "interrupted: stopped by ada; what was measured is kept"),
        (StageFinished(summary={"verdict": "It pays."}), logging.INFO, "finished: It pays."),
    ],
)
def test_event_has_its_sentence(event: Event, level: int, text: str) -> None:
    assert describe(event) == (level, text)


def test_rows_are_left_to_the_table() -> None:
    row = BenchmarkSummarised(
        dataset="",
        mode="plain",
        shape="",
        concurrency=1,
        requests=1,
        tokens=1,
        tokens_per_s=1.0,
        tokens_per_s_low=1.0,
        tokens_per_s_high=1.0,
        first_token_s=None,
        inter_token_s=None,
        speedup=None,
        speedup_low=None,
        speedup_high=None,
        accept_length=None,
    )
    assert describe(row) is None
    assert describe(StatusChanged(text="")) is None
