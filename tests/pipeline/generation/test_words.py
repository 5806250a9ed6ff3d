import logging

import pytest

from pipeline.event import Event
from pipeline.events import (
    BudgetApplied,
    DatasetFinished,
    DatasetSkipped,
    DatasetStarted,
    EngineChanged,
    GenerationProgress,
    SampleLogged,
    StageFailed,
    StageInterrupted,
    StatusChanged,
    Warned,
)
from pipeline.generation.words import count, describe, progress_line

PROGRESS = GenerationProgress(
    dataset="B2",
    done=650,
    total=6236,
    errors=0,
    truncated=3,
    tokens=2_184_000,
    in_flight=8,
    in_flight_tokens=27_000,
    requests_per_s=0.2,
    tokens_per_s=672.0,
    mean_completion=3360.0,
    longest=9000,
    eta_s=27_360.0,
)


def skipped(reason: str, errors: int = 0) -> DatasetSkipped:
    return DatasetSkipped(
        dataset="B1_glaive", reason=reason, tokens=17_034_000, budget=10_000_000, done=8_000, prompts=9_998, errors=errors,
        budget_version=2,
    )  # fmt: skip


def test_progress_line_reads_as_people_know_it() -> None:
    assert progress_line(PROGRESS) == "B2 650/6236 (0 err) 0.2 req/s avg_comp=3360tok ETA=7.6h"


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (skipped("budget_met"), "B1_glaive: budget already met, skipped, 17.03 M of 10.00 M tokens"),
        (skipped("budget_met", 3), "B1_glaive: budget already met, skipped, 17.03 M of 10.00 M tokens"),
        (skipped("exhausted"), "B1_glaive: every prompt was asked already, skipped, 17.03 M of 10.00 M tokens"),
        (
            skipped("exhausted", 1998),
            "B1_glaive: every prompt was asked already, skipped, 17.03 M of 10.00 M tokens; "
            "1,998 gave an error before, --retry-errors asks them again",
        ),
        (
            DatasetStarted(dataset="B2", prompts=6236, done=650, tokens=2_184_000, budget=None, budget_version=1),
            "B2: started, 650 of 6,236 prompts answered, 2.18 M tokens",
        ),
        (
            DatasetFinished(
                dataset="B2",
                reason="budget_met",
                done=40,
                total=50,
                tokens=10_050,
                budget=10_000,
                errors=1,
                truncated=2,
                longest=600,
            ),
            "B2: budget met, 10.1 k of 10.0 k tokens, 40 answers (1 errors, 2 truncated)",
        ),
        (
            BudgetApplied(dataset="B2", budget=None, previous=5, budget_version=3),
            "B2: budget is now unlimited tokens (version 3)",
        ),
        (StatusChanged(text=""), "going on"),
        (StageInterrupted(reason="stopped by ada"), "interrupted: stopped by ada; what was answered is kept"),
    ],
)
def test_describe_says_decisions_with_their_numbers(event: Event, text: str) -> None:
    assert describe(event) == (logging.INFO, text)


def test_describe_raises_its_voice_for_trouble() -> None:
    assert describe(Warned(text="torn line", dataset="B1")) == (logging.WARNING, "B1: torn line")
    assert describe(StageFailed(reason="disk full", kept="all")) == (logging.ERROR, "failed: disk full; kept: all")
    down = EngineChanged(engine="e1", state="down", reason="no connection")
    assert describe(down) == (logging.WARNING, "engine e1: down, no connection")


def test_describe_has_no_words_for_samples_and_counts() -> None:
    sample = SampleLogged(
        dataset="B1", prompt_id="1", prompt="", answer="", completion_tokens=1, finish_reason="stop", engine="e", latency_s=1.0
    )
    assert describe(sample) is None
    assert describe(PROGRESS) is None


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (9_999, "9,999"), (10_000, "10.0 k"), (999_999, "1000.0 k"), (17_034_000, "17.03 M"), (None, "unlimited")],
)
def test_count_reads_like_people_write(number: int | None, text: str) -> None:
    assert count(number) == text
