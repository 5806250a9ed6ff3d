"""Benchmarks: the list, and one attempt's results with its token view."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from eagle3web.domain.clock import database_now
from eagle3web.enums import Stage
from eagle3web.models import Attempt, DraftedAnswer, Project
from eagle3web.pages.benchmarks import COLUMNS, BenchmarkPage, BenchmarksPage
from eagle3web.pages.lineage import lineage_of
from eagle3web.pages.rights import rights
from eagle3web.pages.tokens import WORDS, shown_answer
from eagle3web.pages.topics import topics
from eagle3web.queries.benchmarks import answers_of
from eagle3web.views.access import looking, person

SORTS = frozenset(column.key for column in COLUMNS if column.key)


@require_safe
@looking
def show_all(request: HttpRequest, slug: str) -> HttpResponse:
    """`?sort=-speedup`, `?page=2`. Without either it is live."""
    project = get_object_or_404(Project.objects.only("pk"), slug=slug)
    page = BenchmarksPage(project.pk, rights(person(request)))
    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in SORTS else ""
    context = page.context(database_now(), request.GET.get("page", "1"), sort)
    first = context["page"].number == 1 and not sort
    context["topics"] = topics(f"benchmarks/{project.pk}" if first else "", project.pk)
    return render(request, "benchmarks/benchmarks.html", context)


@require_safe
@looking
def show(request: HttpRequest, benchmark_id: int) -> HttpResponse:
    """A benchmark is named by its attempt's id. `?answer=ID` shows that answer's tokens."""
    if not Attempt.objects.filter(pk=benchmark_id, run__stage=Stage.BENCHMARK).exists():
        raise Http404(f"Attempt {benchmark_id} is no benchmark.")
    context = BenchmarkPage(benchmark_id, rights(person(request))).context(database_now())
    context |= _token_view(benchmark_id, request.GET.get("answer", ""))
    context["lineage"] = lineage_of(context["run"].pk)
    context["topics"] = topics(f"benchmark/{benchmark_id}", context["project"].pk)
    return render(request, "benchmarks/benchmark.html", context)


def _token_view(attempt_id: int, wanted: str) -> dict[str, Any]:
    """One answer, with its neighbours; the first one where the address names none of this attempt. Two queries."""
    keys = [answer.pk for answer in answers_of(attempt_id)]
    if not keys:
        return {"token_view": None}
    place = next((i for i, key in enumerate(keys) if str(key) == wanted), 0)
    return {
        "token_view": shown_answer(DraftedAnswer.objects.get(pk=keys[place])),
        "depth_words": WORDS,
        "answer_place": place + 1,
        "answer_count": len(keys),
        "previous_answer": keys[place - 1] if place else None,
        "next_answer": keys[place + 1] if place + 1 < len(keys) else None,
    }
