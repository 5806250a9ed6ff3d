"""What the demo says at its end: a file for programs, sentences for people."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from eagle3web.enums import DatasetState, RunStatus, Stage
from eagle3web.models import Attempt, Run
from pipeline.benchmark.results import demo_benchmark


def summary(chain: Sequence[Run], *, started: datetime, times: dict[str, float]) -> dict[str, Any]:
    """What var/demo-summary.json holds: one row a dataset, what was measured, how it ended, how long it took, with which
    versions. `run`, `status`, `reason`, `attempt` and `datasets` are of the generation."""
    generate = chain[0]
    attempt = newest(generate)
    rows = [] if attempt is None else list(attempt.datasets.order_by("position", "id"))
    return {
        "run": generate.pk,
        "status": generate.status,
        "reason": "" if attempt is None else attempt.reason,
        "attempt": None if attempt is None else attempt.number,
        "datasets": [
            {
                "slug": row.dataset,
                "prompts": row.total,
                "budget": row.budget,
                "tokens": row.tokens,
                "answers": row.done,
                "errors": row.errors,
                "truncated": row.truncated,
                "longest_answer": row.longest,
                "state": f"{row.state}: {row.reason}" if row.reason else row.state,
            }
            for row in rows
        ],
        "stages": [_stage(run) for run in chain],
        "benchmark": measured(chain),
        "times": {"started": started.isoformat(), "ended": datetime.now(UTC).isoformat(), **times},
        "versions": {} if attempt is None else {**attempt.versions, "git": attempt.git_sha},
    }


def measured(chain: Sequence[Run]) -> dict[str, Any] | None:
    """The benchmark's numbers, as pipeline.benchmark.results.demo_benchmark names them, and its verdict; None before there are
    any."""
    run = next((run for run in chain if run.stage == Stage.BENCHMARK), None)
    attempt = newest(run) if run is not None and run.status == RunStatus.FINISHED else None
    if attempt is None:
        return None
    found = json.loads((Path(attempt.config["output"]) / "summary.json").read_bytes())
    return demo_benchmark(found) | {"verdict": found["verdict"]}


def sentences(numbers: dict[str, Any]) -> list[str]:
    """The measured numbers for a person, the baseline first."""
    found = [f"Plain decoding, the baseline: {numbers['baseline_tok_s']:.0f} tokens a second."]
    if numbers["lookup_speedup"] is not None:
        lookup = f"accept length {numbers['lookup_accept_length']:.2f}, {numbers['lookup_speedup']:.2f}×"
        found.append(f"Prompt lookup, untrained: {lookup} the baseline.")
    if numbers["speedup"] is not None:
        low, high = numbers["spread"]
        drafter = f"accept length {numbers['accept_length']:.2f}, {numbers['speedup']:.2f}×"
        found.append(f"The drafter: {drafter} the baseline ({low:.2f}× to {high:.2f}× over the repetitions).")
    return [*found, numbers["verdict"]]


def failures(chain: Sequence[Run]) -> list[str]:
    """Why the demo did not do its job; empty when it did."""
    for run in chain:
        attempt = newest(run)
        if run.status != RunStatus.FINISHED:
            return [
                f"run {run.pk} ({run.stage}) is {run.status}" + (f": {attempt.reason}" if attempt and attempt.reason else "")
            ]
    attempt = newest(chain[0])
    done = {DatasetState.FINISHED, DatasetState.SKIPPED}
    rows = [] if attempt is None else attempt.datasets.all()
    wrong = [f"{row.dataset} is {row.state}" for row in rows if row.state not in done]
    return wrong or ([] if rows else ["no dataset was worked on"])


def write_summary(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2) + "\n")


def newest(run: Run) -> Attempt | None:
    return Attempt.objects.filter(run=run).order_by("-number").first()


def _stage(run: Run) -> dict[str, Any]:
    attempt = newest(run)
    took = None
    if attempt is not None and attempt.started_at and attempt.ended_at:
        took = round((attempt.ended_at - attempt.started_at).total_seconds(), 1)
    return {"run": run.pk, "stage": run.stage, "status": run.status, "seconds": took}
