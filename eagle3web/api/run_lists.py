"""Several runs at a time: stop them, export them."""

from typing import Literal

from django.http import HttpRequest, HttpResponseBase
from ninja import Field, Query, Router

from eagle3web.api.auth import may, user_of
from eagle3web.api.base import Body, Out
from eagle3web.api.new_runs import RunId
from eagle3web.api.run_filter import RunFilter, chosen
from eagle3web.domain import bulk
from eagle3web.models import Run
from eagle3web.pages.run_export import as_csv, as_json
from eagle3web.streams import download

router = Router(tags=["runs"])


class Stop(Body):
    runs: list[RunId] = Field(min_length=1, max_length=bulk.MOST)


class Stopped(Out):
    asked: list[int]
    """Asked to stop by this call."""
    already: list[int]
    """Asked before."""
    ended: list[int]
    """Not live any more."""
    unknown: list[int]
    """There are no such runs."""


class Export(RunFilter):
    format: Literal["json", "csv"] = "json"


@router.post("/stop", auth=may("change_run"), response=Stopped)
def stop_runs(request: HttpRequest, fields: Stop) -> dict[str, list[int]]:
    """Ask several runs to stop; one that has ended does not keep the others."""
    found = Run.objects.in_bulk(fields.runs)
    stopped = bulk.stop([found[number] for number in dict.fromkeys(fields.runs) if number in found], user=user_of(request))
    named = {name: [run.pk for run in getattr(stopped, name)] for name in ("asked", "already", "ended")}
    return named | {"unknown": [number for number in dict.fromkeys(fields.runs) if number not in found]}


@router.get("/export", auth=may("view_run"))
def export_runs(request: HttpRequest, query: Query[Export]) -> HttpResponseBase:
    """All runs that the filter finds, newest first, as a file; limit and offset do not count here."""
    runs = chosen(query).order_by("-pk")
    make, kind = (as_csv, "text/csv; charset=utf-8") if query.format == "csv" else (as_json, "application/json")
    return download(request, make(runs), name=f"runs.{query.format}", content_type=kind)
