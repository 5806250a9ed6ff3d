"""Lists of answers: filtered, sorted, a page at a time from a cursor, however many there are."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Left

from eagle3web.enums import FlagState
from eagle3web.models import Answer, AnswerFile, AnswerFlag

PER_PAGE = 50
SEARCHED = 5_000
"""Answers that one search for text looks at; the next page goes on from there."""
EXCERPT = 240
"""Characters of prompt and answer that a list shows."""
SORTS = {
    "newest": ("id", True),
    "oldest": ("id", False),
    "longest": ("tokens", True),
    "shortest": ("tokens", False),
    "repetitive": ("repetition", True),
}
"""Name → column, and whether the largest comes first. Each has an index behind project and dataset."""
ENDS = ("stop", "length", "other", "error")


@dataclass(frozen=True, kw_only=True)
class AnswerFilter:
    """What somebody wants to see of one dataset's answers; empty fields filter nothing."""

    dataset: str
    finish: str = ""
    """One of ENDS."""
    shortest: int | None = None
    """Completion tokens, as `longest`."""
    longest: int | None = None
    repetition: float | None = None
    """At least this share."""
    language: str = ""
    mark: str = ""
    """A FlagState."""
    text: str = ""
    """In prompt or answer, in any case; only the kept part is searched."""
    sort: str = "newest"


@dataclass(frozen=True, kw_only=True)
class AnswerPage:
    rows: list[Answer]
    """With `prompt_excerpt` and `text_excerpt` in place of the whole texts."""
    after: str
    """Cursor of the next page; empty at the end."""
    searched: bool
    """Whether a search for text has stopped before the end of all answers."""


def datasets_with_answers(project_id: int) -> list[str]:
    """One query, of a small table."""
    rows = AnswerFile.objects.filter(project=project_id).order_by("dataset")
    return list(rows.values_list("dataset", flat=True).distinct())


def answers_page(project_id: int, wanted: AnswerFilter, *, after: str = "", size: int = PER_PAGE) -> AnswerPage:
    """One query; two with a search for text. An `after` that is no cursor begins at the start."""
    column, descending = SORTS[wanted.sort]
    sign = "-" if descending else ""
    rows = matching(project_id, wanted).order_by(f"{sign}{column}", f"{sign}id")
    if (place := _read_cursor(after, column)) is not None:
        rows = rows.filter(_side(column, place, up=not descending, inclusive=False))
    edge = None
    if wanted.text:
        edge = rows.values_list(column, "id")[SEARCHED - 1 : SEARCHED].first()
        rows = rows.filter(Q(prompt__icontains=wanted.text) | Q(text__icontains=wanted.text))
    if edge is not None:
        rows = rows.filter(_side(column, edge, up=descending, inclusive=True))
    found = list(with_excerpts(rows)[: size + 1])
    more = len(found) > size
    last = (getattr(found[size - 1], column), found[size - 1].pk) if more else edge
    return AnswerPage(rows=found[:size], after=_cursor(last), searched=bool(edge) and not more)


def with_excerpts(rows: QuerySet[Answer]) -> QuerySet[Answer]:
    """With the beginnings of prompt and answer in place of the whole texts."""
    excerpts = {"prompt_excerpt": Left("prompt", EXCERPT), "text_excerpt": Left("text", EXCERPT)}
    return rows.annotate(**excerpts).defer("prompt", "text")


def beginnings(row: Answer) -> dict[str, str]:
    """`prompt` and `text` of a row that `with_excerpts` read."""
    return {name: getattr(row, f"{name}_excerpt") for name in ("prompt", "text")}


def matching(project_id: int, wanted: AnswerFilter) -> QuerySet[Answer]:
    """All but the search for text, which no index helps."""
    rows = Answer.objects.filter(project=project_id, dataset=wanted.dataset)
    if wanted.finish:
        # Whatever has no finish reason gave no answer.
        rows = rows.filter(finish_reason="" if wanted.finish == "error" else wanted.finish)
    if wanted.shortest is not None:
        rows = rows.filter(tokens__gte=wanted.shortest)
    if wanted.longest is not None:
        rows = rows.filter(tokens__lte=wanted.longest)
    if wanted.repetition is not None:
        rows = rows.filter(repetition__gte=wanted.repetition)
    if wanted.language:
        rows = rows.filter(language=wanted.language)
    if wanted.mark:
        flags = AnswerFlag.objects.filter(project=project_id, dataset=wanted.dataset, state=wanted.mark)
        # By key through one index, then by number: together, a database would rather read every row in order.
        marked = Answer.objects.filter(project=project_id, dataset=wanted.dataset, key__in=flags.values("key"))
        rows = rows.filter(pk__in=marked.order_by().values("pk"))
    return rows


def flags_of(rows: Iterable[Answer]) -> dict[str, AnswerFlag]:
    """Key → its flag, of answers of one dataset. One query."""
    found = list(rows)
    if not found:
        return {}
    flags = AnswerFlag.objects.filter(
        project=found[0].project_id, dataset=found[0].dataset, key__in={row.key for row in found}
    ).select_related("author", "reviewed_by")
    return {flag.key: flag for flag in flags}


def flag_counts(project_id: int) -> dict[str, int]:
    """FlagState → how many. One query."""
    rows = AnswerFlag.objects.filter(project=project_id).order_by().values_list("state").annotate(count=Count("pk"))
    return dict.fromkeys(FlagState.values, 0) | dict(rows)


def _side(column: str, place: tuple[float, int], *, up: bool, inclusive: bool) -> Q:
    """Rows above (`up`) or below a place in the order of `column`, then id."""
    value, pk = place
    way = "gt" if up else "lt"
    beyond = f"id__{way}e" if inclusive else f"id__{way}"
    if column == "id":
        return Q(**{beyond: pk})
    # The first condition says nothing new, and lets an index find the place.
    return Q(**{f"{column}__{way}e": value}) & (Q(**{f"{column}__{way}": value}) | Q(**{column: value, beyond: pk}))


def _cursor(place: tuple[float, int] | None) -> str:
    return "" if place is None else f"{place[0]!r}_{place[1]}"


def _read_cursor(text: str, column: str) -> tuple[float, int] | None:
    value, _, pk = text.partition("_")
    try:
        place = (float(value) if column == "repetition" else int(value), int(pk))
    except ValueError:
        return None
    return place if abs(place[0]) < 2**63 and abs(place[1]) < 2**63 else None
