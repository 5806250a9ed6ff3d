"""An attempt's log: windows of lines for the page, and the whole file."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

from django.core.handlers.asgi import ASGIRequest
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from eagle3web.enums import Prunable
from eagle3web.models import Attempt, LogChunk
from eagle3web.queries import log, pruned
from eagle3web.views.access import looking

WINDOW = 1000
FOUND = 500


@require_safe
@looking
def lines(request: HttpRequest, run_id: int, number: int) -> HttpResponse:
    """`?after=LINE&count=N` gives lines after a number; `?q=TEXT` the last lines that hold the text, whatever its case."""
    attempt = get_object_or_404(Attempt.objects.only("pk"), run=run_id, number=number)
    wanted = request.GET.get("q", "")
    if wanted:
        found, total = log.search(attempt.pk, wanted[:200], limit=FOUND)
        return JsonResponse({"lines": found, "total": total})
    after, count = _number(request, "after", 0), min(_number(request, "count", WINDOW), WINDOW)
    return JsonResponse({"lines": log.window(attempt.pk, after=after, count=count)})


@require_safe
@looking
def download(request: HttpRequest, run_id: int, number: int) -> HttpResponseBase:
    """log.txt as it was written, whole; as a file, so that no browser takes it for a page."""
    attempt = get_object_or_404(Attempt.objects.only("pk"), run=run_id, number=number)
    if (gone := pruned.of_attempt(attempt.pk).get(Prunable.LOGS)) is not None:
        said = f"This log was pruned on {gone.decided_at:%Y-%m-%d}: {gone.policy}.\n"
        return HttpResponse(said, status=410, content_type="text/plain; charset=utf-8")
    chunks = LogChunk.objects.filter(attempt=attempt.pk).order_by("offset").values_list("data", flat=True)
    return StreamingHttpResponse(
        _from_loop(chunks) if isinstance(request, ASGIRequest) else _from_thread(chunks),
        content_type="text/plain; charset=utf-8",
        headers={
            "Content-Disposition": f'attachment; filename="r{run_id}-attempt-{number}-log.txt"',
            "X-Content-Type-Options": "nosniff",
        },
    )


async def _from_loop(chunks: QuerySet[LogChunk, Any]) -> AsyncIterator[bytes]:
    """Chunk by chunk, so that a log of gigabytes never stands in memory."""
    async for data in chunks.aiterator(chunk_size=20):
        yield bytes(data)


def _from_thread(chunks: QuerySet[LogChunk, Any]) -> Iterator[bytes]:
    for data in chunks.iterator(chunk_size=20):
        yield bytes(data)


def _number(request: HttpRequest, name: str, default: int) -> int:
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else default
