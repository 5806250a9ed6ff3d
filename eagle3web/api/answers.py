"""Answers: a project's lists page by page, one of them, what people flag, and what training leaves out."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema, Status
from pydantic import ConfigDict

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Id, Out, Page, Paging, Slug, Text, page
from eagle3web.api.errors import Problem
from eagle3web.domain import flags
from eagle3web.domain.answer_reads import AnswerAwayError, whole_answer
from eagle3web.domain.exclusions import exclusions
from eagle3web.models import Answer, AnswerFlag, Project
from eagle3web.queries.answers import AnswerFilter, answers_page, beginnings, flags_of

router = Router(tags=["answers"])
of_project = Router(tags=["answers"])
MOST_TOKENS = 2**31 - 1


class FlagOut(Out):
    id: int
    dataset: str
    key: str
    state: str
    """flagged, excluded or kept."""
    reason: str
    author: str | None = Field(None, alias="author.username")
    created_at: datetime
    reviewed_by: str | None = Field(None, alias="reviewed_by.username")
    reviewed_at: datetime | None


class AnswerOut(Out):
    id: int
    dataset: str
    key: str
    """The prompt's key, which an exclusion names."""
    scope: str
    """Revision and sampling in one word."""
    prompt_id: str
    prompt: str
    """The beginning of the last user message; untrusted."""
    text: str
    """The beginning of the answer; untrusted."""
    error: str
    """Why there is no answer; empty for answers."""
    finish_reason: str
    """stop, length or other; empty for errors."""
    prompt_tokens: int
    tokens: int
    repetition: float
    """Share of four-token sequences that occurred before in the same answer."""
    language: str
    engine: str
    finished_at: datetime | None
    flag: FlagOut | None
    """What people say of it."""


class AnswerList(Out):
    items: list[AnswerOut]
    after: str
    """Send it back as `after` for the next page; empty at the end."""
    searched: bool
    """Whether a search for text has stopped early: the next page goes on with it, even when this one is empty."""


class AnswerDetail(AnswerOut):
    whole: bool
    """Whether prompt and text are whole: read from the file, where the web host has it."""
    away: str
    """Why they are not."""
    messages: list[dict[str, Any]]
    """The prompt; empty without the file, and for a prompt of bare token ids."""


class AnswerQuery(Schema):
    model_config = ConfigDict(use_attribute_docstrings=True)
    dataset: Slug
    finish: Literal["", "stop", "length", "other", "error"] = ""
    min_tokens: int | None = Field(None, ge=0, le=MOST_TOKENS)
    max_tokens: int | None = Field(None, ge=0, le=MOST_TOKENS)
    repetition: float | None = Field(None, ge=0, le=1)
    """At least this share."""
    language: Annotated[Text, Field(max_length=20)] = ""
    mark: Literal["", "flagged", "excluded", "kept"] = ""
    text: Annotated[Text, Field(max_length=200)] = ""
    """In the kept part of prompt or answer, in any case."""
    sort: Literal["newest", "oldest", "longest", "shortest", "repetitive"] = "newest"
    after: Annotated[Text, Field(max_length=80)] = ""
    limit: int = Field(50, ge=1, le=500)


class FlagFields(Body):
    reason: Annotated[Text, Field(min_length=1, max_length=flags.REASON_LIMIT)]


class FlagQuery(Paging):
    state: Literal["flagged", "excluded", "kept"] | None = None


class ExcludedOut(Out):
    dataset: str
    keys: list[str]


class ExclusionsOut(Out):
    """What the next extraction or training leaves out."""

    hash: str
    """Names the list; empty for an empty one."""
    count: int
    by: list[str]
    answers: list[ExcludedOut]


@of_project.get("/{slug}/answers", auth=may("view_answer"), response=AnswerList)
def list_answers(request: HttpRequest, slug: Slug, query: Query[AnswerQuery]) -> dict[str, Any]:
    """One dataset's answers and errors, from a cursor on; texts are cut to their beginnings."""
    project = get_object_or_404(Project, slug=slug)
    wanted = AnswerFilter(
        dataset=query.dataset,
        finish=query.finish,
        shortest=query.min_tokens,
        longest=query.max_tokens,
        repetition=query.repetition,
        language=query.language,
        mark=query.mark,
        text=query.text,
        sort=query.sort,
    )
    found = answers_page(project.pk, wanted, after=query.after, size=query.limit)
    marks = flags_of(found.rows)
    items = [_fields(row, marks.get(row.key), **beginnings(row)) for row in found.rows]
    return {"items": items, "after": found.after, "searched": found.searched}


@of_project.get("/{slug}/flags", auth=may("view_answerflag"), response=Page[FlagOut])
def list_flags(request: HttpRequest, slug: Slug, query: Query[FlagQuery]) -> dict[str, Any]:
    """Flags of a project, the newest first."""
    rows = AnswerFlag.objects.filter(project=get_object_or_404(Project, slug=slug)).select_related("author", "reviewed_by")
    if query.state is not None:
        rows = rows.filter(state=query.state)
    return page(rows, query)


@of_project.get("/{slug}/exclusions", auth=may("view_answerflag"), response=ExclusionsOut)
def list_exclusions(request: HttpRequest, slug: Slug) -> Any:  # noqa: ANN401  (Exclusions, which ExclusionsOut reads)
    """The exclusion list as it stands. Excluded answers count as generated all the same."""
    return exclusions(get_object_or_404(Project, slug=slug))


@router.get("/{answer_id}", auth=may("view_answer"), response=AnswerDetail)
def get_answer(request: HttpRequest, answer_id: Id) -> dict[str, Any]:
    """One answer, whole where the web host has its file."""
    row = get_object_or_404(Answer.objects.select_related("project"), pk=answer_id)
    fields = _fields(row, flags_of([row]).get(row.key), prompt=row.prompt, text=row.text)
    if row.error:
        return fields | {"whole": False, "away": "there is no answer", "messages": []}
    try:
        record = whole_answer(row)
    except AnswerAwayError as error:
        return fields | {"whole": not row.cut, "away": str(error), "messages": []}
    return fields | {"text": record.text, "whole": True, "away": "", "messages": [dict(turn) for turn in record.messages]}


@router.post("/{answer_id}/flag", auth=may("add_answerflag"), response={201: FlagOut, 409: Problem})
def flag_answer(request: HttpRequest, answer_id: Id, fields: FlagFields) -> Status[AnswerFlag]:
    """Say that an answer is bad, for somebody to review. 409 when it is flagged or excluded already."""
    row = get_object_or_404(Answer.objects.select_related("project"), pk=answer_id)
    return Status(201, flags.flag_answer(row, reason=fields.reason, user=user_of(request)))


@router.post("/flags/{flag_id}/exclude", auth=may("change_answerflag"), response=FlagOut)
def exclude_answer(request: HttpRequest, flag_id: Id) -> AnswerFlag:
    """Leave the flagged answer out of what trains from now on; the same again changes nothing."""
    found = get_object_or_404(AnswerFlag, pk=flag_id)
    flags.exclude(found, user=user_of(request))
    return found


@router.post("/flags/{flag_id}/keep", auth=may("change_answerflag"), response=FlagOut)
def keep_answer(request: HttpRequest, flag_id: Id) -> AnswerFlag:
    """Find the flagged answer good after all; the same again changes nothing."""
    found = get_object_or_404(AnswerFlag, pk=flag_id)
    flags.keep(found, user=user_of(request))
    return found


def _fields(row: Answer, mark: AnswerFlag | None, *, prompt: str, text: str) -> dict[str, Any]:
    same = (
        "id", "dataset", "key", "scope", "prompt_id", "error", "finish_reason", "prompt_tokens", "tokens", "repetition",
        "language", "engine", "finished_at",
    )  # fmt: skip
    return {name: getattr(row, name) for name in same} | {"prompt": prompt, "text": text, "flag": mark}
