"""The queue of answers that people flagged, and what was decided of them."""

from typing import Any

from django.core.paginator import Paginator

from eagle3web.domain.exclusions import exclusions
from eagle3web.models import Answer, AnswerFlag, Project
from eagle3web.pages.answers import AnswerRow
from eagle3web.pages.rights import Rights
from eagle3web.queries.answers import flag_counts, with_excerpts

FLAGS_PER_PAGE = 50


def review_context(project: Project, state: str, number: str, may: Rights) -> dict[str, Any]:
    """The flags in one state, newest first, each with its answer; and the list that they make. Five queries."""
    rows = AnswerFlag.objects.filter(project=project, state=state).select_related("author", "reviewed_by").order_by("-pk")
    page = Paginator(rows, FLAGS_PER_PAGE).get_page(number)
    flags = list(page)
    known = {"dataset__in": {flag.dataset for flag in flags}, "key__in": [flag.key for flag in flags]}
    answers = {
        (row.dataset, row.key): AnswerRow(row, None)
        for row in with_excerpts(Answer.objects.filter(project=project, **known).order_by("pk"))
    }
    return {
        "may": may,
        "project": project,
        "state": state,
        "page": page,
        "items": [(flag, answers.get((flag.dataset, flag.key))) for flag in flags],
        "counts": flag_counts(project.pk),
        "list": exclusions(project),
    }
