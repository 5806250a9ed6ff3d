"""Benchmarks: which there are, and all rows of one. A benchmark is an attempt of a run of that stage, named by its id."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router

from eagle3web.api.auth import may
from eagle3web.api.base import Id, Out, Page, Paging, Slug, page
from eagle3web.enums import Stage
from eagle3web.models import Attempt, BenchmarkRow
from eagle3web.queries.benchmarks import rows_of

router = Router(tags=["benchmarks"])


class BenchmarkOut(Out):
    id: int
    """Of the attempt."""
    run: int = Field(alias="run_id")
    project: str = Field(alias="run.project.slug")
    number: int
    status: str
    host: str
    started_at: datetime | None
    ended_at: datetime | None
    summary: dict[str, Any]


class ResultOut(Out):
    """One mode over one dataset and concurrency. Medians over repetitions."""

    dataset: str
    """Empty: all datasets together."""
    mode: str
    """plain (the baseline), lookup, drafter."""
    shape: str
    """steps/topk/draft_tokens."""
    concurrency: int
    requests: int
    tokens: int
    tokens_per_s: float
    tokens_per_s_low: float
    tokens_per_s_high: float
    first_token_s: float | None
    inter_token_s: float | None
    speedup: float | None
    """Against the plain row of the same dataset and concurrency."""
    speedup_low: float | None
    speedup_high: float | None
    accept_length: float | None
    """Tokens over verifications, pooled over requests, bonus token included."""
    acceptance: list[float]
    """Share of drafts accepted at each position, given that it was reached."""
    identical: int | None
    """Requests whose tokens equal the plain ones."""
    checkpoint: int | None = Field(alias="checkpoint_id")


class BenchmarkDetail(BenchmarkOut):
    rows: list[ResultOut]

    @staticmethod
    def resolve_rows(attempt: Attempt) -> list[BenchmarkRow]:
        return rows_of(attempt.pk)


class BenchmarkFilter(Paging):
    project: Slug | None = None


@router.get("", auth=may("view_benchmarkrow"), response=Page[BenchmarkOut])
def list_benchmarks(request: HttpRequest, query: Query[BenchmarkFilter]) -> dict[str, Any]:
    """The newest first."""
    rows = Attempt.objects.filter(run__stage=Stage.BENCHMARK).select_related("run__project").order_by("-id")
    if query.project is not None:
        rows = rows.filter(run__project__slug=query.project)
    return page(rows, query)


@router.get("/{benchmark_id}", auth=may("view_benchmarkrow"), response=BenchmarkDetail)
def get_benchmark(request: HttpRequest, benchmark_id: Id) -> Attempt:
    """All rows: those over all datasets first, each mode below its baseline."""
    rows = Attempt.objects.filter(run__stage=Stage.BENCHMARK).select_related("run__project")
    return get_object_or_404(rows, pk=benchmark_id)
