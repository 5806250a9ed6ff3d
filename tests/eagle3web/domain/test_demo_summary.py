"""What the demo says at its end."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from eagle3web.domain import demo_summary
from eagle3web.enums import AttemptStatus, DatasetState
from eagle3web.models import Run
from tests.support import factories as make
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db

WHEN = datetime(2026, 1, 1, tzinfo=UTC)


def row(mode: str, **fields: Any) -> dict[str, Any]:
    return {"dataset": "", "mode": mode, "shape": "", "concurrency": 1, "tokens_per_s": 50.0, "speedup": None,
            "speedup_low": None, "speedup_high": None, "accept_length": None} | fields  # fmt: skip


@pytest.fixture
def chain(tmp_path: Path) -> list[Run]:
    """Finished, with a benchmark's summary on disk."""
    found = chain_of(ready_project())
    rows = [
        row("plain"),
        row("lookup", tokens_per_s=60.0, speedup=1.2, speedup_low=1.1, speedup_high=1.3, accept_length=1.5),
        row("drafter", tokens_per_s=70.0, speedup=1.4, speedup_low=1.3, speedup_high=1.5, accept_length=1.9),
    ]
    (tmp_path / "summary.json").write_text(json.dumps({"rows": rows, "verdict": "It is worth its place."}))
    for run in found:
        attempt = make.attempt(run, status=AttemptStatus.FINISHED, config={"output": str(tmp_path)})
        if run.stage == "generate":
            make.progress(attempt, dataset="B1", state=DatasetState.FINISHED)
    return found


def test_summary_has_what_was_measured(chain: list[Run]) -> None:
    found = demo_summary.summary(chain, started=WHEN, times={})
    assert [stage["stage"] for stage in found["stages"]] == ["generate", "extract", "train", "benchmark"]
    numbers = found["benchmark"]
    assert (numbers["accept_length"], numbers["speedup"], numbers["spread"]) == (1.9, 1.4, [1.3, 1.5])
    assert (numbers["baseline_tok_s"], numbers["draft_tok_s"], numbers["lookup_speedup"]) == (50.0, 70.0, 1.2)
    assert demo_summary.failures(chain) == []


def test_sentences_name_the_baseline_first(chain: list[Run]) -> None:
    found = demo_summary.measured(chain)
    assert found is not None
    assert demo_summary.sentences(found) == [
        "Plain decoding, the baseline: 50 tokens a second.",
        "Prompt lookup, untrained: accept length 1.50, 1.20× the baseline.",
        "The drafter: accept length 1.90, 1.40× the baseline (1.30× to 1.50× over the repetitions).",
        "It is worth its place.",
    ]


def test_summary_of_a_chain_that_was_cut_short_has_no_measurement(chain: list[Run]) -> None:
    train = chain[2]
    make.attempt(train, status=AttemptStatus.FAILED, reason="failed: disk full")
    Run.objects.filter(stage="benchmark").update(status="queued")
    for run in chain:
        run.refresh_from_db()
    assert demo_summary.summary(chain, started=WHEN, times={})["benchmark"] is None
    assert demo_summary.failures(chain) == [f"run {train.pk} (train) is failed: failed: disk full"]


def test_summary_has_one_row_for_each_dataset() -> None:
    attempt = make.attempt(status=AttemptStatus.FINISHED, versions={"python": "3.11"})
    make.progress(
        attempt,
        dataset="B1_tools",
        state=DatasetState.FINISHED,
        reason="budget_met",
        total=1239,
        done=15,
        errors=1,
        truncated=4,
        tokens=2010,
        budget=2000,
        longest=200,
    )
    found = demo_summary.summary([attempt.run], started=WHEN, times={"total_s": 61.5})
    assert found["datasets"] == [
        {
            "slug": "B1_tools",
            "prompts": 1239,
            "budget": 2000,
            "tokens": 2010,
            "answers": 15,
            "errors": 1,
            "truncated": 4,
            "longest_answer": 200,
            "state": "finished: budget_met",
        }
    ]
    assert found["times"]["total_s"] == 61.5
    assert found["versions"] == {"python": "3.11", "git": attempt.git_sha}


def test_failures_name_a_run_that_did_not_finish() -> None:
    attempt = make.attempt(status=AttemptStatus.FAILED, reason="failed: disk full")
    assert demo_summary.failures([attempt.run]) == [f"run {attempt.run.pk} (generate) is failed: failed: disk full"]


def test_failures_name_a_dataset_that_did_not_end() -> None:
    attempt = make.attempt(status=AttemptStatus.FINISHED)
    make.progress(attempt, dataset="B1_tools", state=DatasetState.FINISHED)
    make.progress(attempt, dataset="B2_code", state=DatasetState.PENDING)
    assert demo_summary.failures([attempt.run]) == ["B2_code is pending"]


def test_failures_are_none_when_all_is_done() -> None:
    attempt = make.attempt(status=AttemptStatus.FINISHED)
    make.progress(attempt, state=DatasetState.SKIPPED)
    assert demo_summary.failures([attempt.run]) == []
