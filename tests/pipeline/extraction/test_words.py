import logging

from pipeline.drafter_events import ExtractionProgress, ShardWritten
from pipeline.events import LengthsCounted, StageFailed, StageFinished, StageInterrupted, StatusChanged, Warned
from pipeline.extraction.words import describe, progress_line

PROGRESS = ExtractionProgress(
    documents=650,
    total=6236,
    skipped=3,
    tokens=400_000,
    total_tokens=3_900_000,
    bytes=1_843_600_000,
    total_bytes=17_975_100_000,
    agreed=994,
    compared=1000,
    tokens_per_s=3120.4,
    eta_s=4000.0,
)


def test_progress_is_one_line() -> None:
    assert progress_line(PROGRESS) == "650/6,236 answers, 1.8 GB of 18.0 GB, 99.4% reproduced, 3,120 tok/s ETA=1.1h"
    assert progress_line(StatusChanged(text="")) == ""


def test_events_are_sentences() -> None:
    summary = {
        "documents": 9,
        "tokens": 1234,
        "bytes": 5_000_000,
        "folder": "hidden",
        "skipped": 1,
        "reproduced": {"B1": 0.995},
    }
    told = [
        (StageFailed(reason="disk full"), (logging.ERROR, "failed: disk full")),
        (Warned(text="prompt x: NaN", dataset="B1"), (logging.WARNING, "B1: prompt x: NaN")),
        (StatusChanged(text="loading the target model"), (logging.INFO, "loading the target model")),
        (
            ShardWritten(shard="shard-00000.safetensors", documents=10, tokens=2000, bytes=9_300_000),
            (logging.INFO, "shard-00000.safetensors written: 10 answers, 2,000 tokens, 9.3 MB"),
        ),
        (StageInterrupted(reason="stopped by ada"), (logging.INFO, "interrupted: stopped by ada; finished shards are kept")),
        (
            StageFinished(summary=summary),
            (
                logging.INFO,
                "finished: 9 answers, 1,234 tokens, 5.0 MB in hidden; 1 left out; generated tokens given back, B1 99.5%",
            ),
        ),
        (LengthsCounted(dataset="B1", width=1, counts=(1,)), None),
    ]
    for event, expected in told:
        assert describe(event) == expected
