"""Results of benchmarks, as rows that follow their events."""

from dataclasses import asdict
from typing import Any

from eagle3web.domain.fitting import fit
from eagle3web.models import Attempt, BenchmarkRow, Checkpoint, DraftedAnswer
from pipeline.drafter_events import AnswerDrafted, BenchmarkSummarised
from pipeline.event import Event

KEY = ("dataset", "mode", "shape", "concurrency")
MAX_ANSWERS = 200
"""Answers with their drafts that one attempt can show."""
MAX_PIECES = 4000
PIECE_LIMIT = 200
PROMPT_LIMIT = 4000
"""Characters."""


def record(attempt: Attempt, event: Event) -> None:
    """Take over a result, or an answer with its drafts; the same event twice changes nothing."""
    match event:
        case BenchmarkSummarised():
            _record_row(attempt, event)
        case AnswerDrafted():
            _record_answer(attempt, event)


def _record_row(attempt: Attempt, event: BenchmarkSummarised) -> None:
    told: dict[str, Any] = asdict(event)
    key: dict[str, Any] = {
        "dataset": event.dataset[:80],
        "mode": event.mode[:10],
        "shape": event.shape[:40],
        "concurrency": fit(event.concurrency),
    }
    fields = {name: value for name, value in told.items() if name not in KEY}
    fields |= {"requests": fit(event.requests), "tokens": fit(event.tokens, bits=63), "acceptance": list(event.acceptance)}
    fields |= {"identical": None if event.identical is None else fit(event.identical)}
    fields["checkpoint"] = _measured(attempt) if event.mode == "drafter" else None
    BenchmarkRow.objects.update_or_create(fields, attempt=attempt, **key)


def _measured(attempt: Attempt) -> Checkpoint | None:
    """The checkpoint that the attempt's config names, by its folder."""
    path = attempt.config.get("drafter") or attempt.run.config.get("drafter")
    found = Checkpoint.objects.filter(project=attempt.run.project_id, path=str(path).rstrip("/")[:500]) if path else None
    return found.order_by("-id").first() if found is not None else None


def _record_answer(attempt: Attempt, event: AnswerDrafted) -> None:
    key: dict[str, Any] = {
        "dataset": event.dataset[:80],
        "prompt_id": event.prompt_id[:200],
        "mode": event.mode[:10],
        "shape": event.shape[:40],
    }
    rows = DraftedAnswer.objects.filter(attempt=attempt)
    if not rows.filter(**key).exists() and rows.count() >= MAX_ANSWERS:
        return
    pieces = [piece[:PIECE_LIMIT] for piece in event.pieces[:MAX_PIECES]]
    depths = [fit(depth) for depth in event.depths[: len(pieces)]]
    fields = {"prompt": event.prompt[:PROMPT_LIMIT], "pieces": pieces, "depths": depths}
    DraftedAnswer.objects.update_or_create(fields, attempt=attempt, **key)
