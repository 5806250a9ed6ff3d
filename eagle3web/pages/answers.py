"""Answers of a project: lists of them, what they are like together, and one of them whole."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from eagle3web.charts.answers import ends_figure, languages_figure, lengths_figure, repetition_figure
from eagle3web.domain.answer_reads import AnswerAwayError, whole_answer
from eagle3web.domain.answer_rows import message_text
from eagle3web.enums import FlagState
from eagle3web.models import Answer, AnswerFlag, Project
from eagle3web.pages.answer_filters import filter_choices, read_filter
from eagle3web.pages.datasets import Turn
from eagle3web.pages.rights import Rights
from eagle3web.pages.samples import thinking_apart
from eagle3web.queries.answer_summary import REPETITIVE, AnswerSummary, answer_summary
from eagle3web.queries.answers import (
    answers_page,
    beginnings,
    datasets_with_answers,
    flag_counts,
    flags_of,
    matching,
)
from eagle3web.text import cut, visible
from pipeline.responses.record import Response

WHOLE_LIMIT = 100_000
"""Characters of one text that a page shows."""
KEPT_S = 3600
IDS_LIMIT = 2_000
"""Token ids that a page shows."""


@dataclass(frozen=True)
class AnswerRow:
    """One line of a list."""

    answer: Answer
    """As `with_excerpts` reads it."""
    flag: AnswerFlag | None

    @property
    def prompt(self) -> str:
        return _line(beginnings(self.answer)["prompt"])

    @property
    def text(self) -> str:
        return _line(beginnings(self.answer)["text"])

    @property
    def repetitive(self) -> bool:
        return self.answer.repetition >= REPETITIVE / 10


def answers_context(project: Project, query: Mapping[str, str], may: Rights) -> dict[str, Any]:
    """The list that an address asks for. Five queries."""
    datasets = datasets_with_answers(project.pk)
    wanted = read_filter(query, datasets)
    page = answers_page(project.pk, wanted, after=query.get("after", "")[:80])
    flags = flags_of(page.rows)
    filtered = any(query.get(name) for name in ("finish", "min", "max", "repetition", "mark", "q", "language"))
    return {
        "may": may,
        "project": project,
        "datasets": datasets,
        "wanted": wanted,
        "choices": filter_choices(wanted),
        "rows": [AnswerRow(row, flags.get(row.key)) for row in page.rows],
        "page": page,
        "matches": None if wanted.text else matching(project.pk, wanted).count(),
        "began": bool(query.get("after")),
        "filtered": filtered,
        "flags": flag_counts(project.pk),
    }


def summary_context(project: Project, dataset: str) -> dict[str, Any]:
    """Seven queries, two when nobody answered since somebody looked."""
    found = _summary(project.pk, dataset)
    excluded = AnswerFlag.objects.filter(project=project, dataset=dataset, state=FlagState.EXCLUDED).count()
    return {
        "project": project,
        "dataset": dataset,
        "summary": found,
        "excluded": excluded,
        "lengths_figure": lengths_figure(found.edges, found.lengths),
        "ends_figure": ends_figure(found.ends),
        "repetition_figure": repetition_figure(found.repetition, repetitive=REPETITIVE),
        "languages_figure": languages_figure(found.languages),
    }


def _summary(project_id: int, dataset: str) -> AnswerSummary:
    """Counting hundreds of thousands of answers takes most of a second, so it is done once for each newest one."""
    newest = Answer.objects.filter(project=project_id, dataset=dataset).order_by("-id").values_list("pk", "finished_at").first()
    if newest is None:
        return answer_summary(project_id, dataset)
    key = f"answers-{hashlib.sha256(repr((project_id, dataset, newest)).encode()).hexdigest()}"
    found: AnswerSummary | None = cache.get(key)
    if found is None:
        found = answer_summary(project_id, dataset)
        cache.set(key, found, KEPT_S)
    return found


@dataclass(frozen=True, kw_only=True)
class ShownAnswer:
    """One answer: whole where this host has its file, else as much as its row keeps. Everything in it is untrusted."""

    turns: list[Turn]
    """The prompt, message by message."""
    thinking: str
    text: str
    left_out: int
    """Characters of the answer that are not shown."""
    away: str
    """Why the whole cannot be shown; empty where it is."""
    record: Response | None
    ids: list[int]
    more_ids: int

    @property
    def tokens_per_s(self) -> float | None:
        record = self.record
        return record.completion_tokens / record.latency_s if record and record.latency_s > 0 else None


def shown_answer(answer: Answer) -> ShownAnswer:
    if answer.error:
        return _from_row(answer, away="")
    try:
        record = whole_answer(answer)
    except AnswerAwayError as error:
        return _from_row(answer, away=str(error))
    text, left_out = cut(str(record.text), WHOLE_LIMIT)
    thinking, rest = thinking_apart(visible(text))
    return ShownAnswer(
        turns=[_turn(message) for message in record.messages],
        thinking=thinking,
        text=rest,
        left_out=left_out,
        away="",
        record=record,
        ids=list(record.output_ids[:IDS_LIMIT]),
        more_ids=max(0, len(record.output_ids) - IDS_LIMIT),
    )


def answer_context(answer: Answer, may: Rights) -> dict[str, Any]:
    """Two queries, and the file."""
    flag = flags_of([answer]).get(answer.key)
    repetitive = answer.repetition >= REPETITIVE / 10
    return {
        "may": may,
        "project": answer.project,
        "answer": answer,
        "shown": shown_answer(answer),
        "flag": flag,
        "may_flag": "add_answerflag" in may and not answer.error and (flag is None or flag.state == FlagState.KEPT),
        "repetitive": repetitive,
    }


def _line(text: str) -> str:
    return visible(" ".join(text.split()))


def _from_row(answer: Answer, *, away: str) -> ShownAnswer:
    thinking, rest = thinking_apart(visible(answer.text))
    turns = [Turn("user", visible(answer.prompt), 0)] if answer.prompt else []
    return ShownAnswer(turns=turns, thinking=thinking, text=rest, left_out=0, away=away, record=None, ids=[], more_ids=0)


def _turn(message: Mapping[str, Any]) -> Turn:
    text, left_out = cut(message_text(message), WHOLE_LIMIT)
    return Turn(visible(str(message.get("role", ""))[:40]), visible(text), left_out)
