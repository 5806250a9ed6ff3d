"""An attempt's log: lines as the pages show them, or bytes as they were written."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Router, Schema

from eagle3web.api.auth import may
from eagle3web.api.base import Id, Out
from eagle3web.models import Attempt, LogChunk
from eagle3web.queries.log import window

router = Router(tags=["attempts"])


class LineOut(Out):
    number: int
    """From 1."""
    text: str
    """Unseen characters are shown as signs; a very long line is cut."""
    left_out: int
    """Bytes that were cut off the line."""


class Lines(Out):
    items: list[LineOut]
    next_line: int
    """What to send as `from_line` to go on."""
    log_lines: int
    """Finished lines that are stored by now."""


class LineQuery(Schema):
    from_line: int = Field(1, ge=1, le=2**31 - 1)
    limit: int = Field(500, ge=1, le=5000)


class ByteQuery(Schema):
    offset: int = Field(0, ge=0, le=2**63 - 1)
    limit: int = Field(2**20, ge=1, le=2**24)


@router.get("/{attempt_id}/log", auth=may("view_logchunk"), response=Lines)
def read_lines(request: HttpRequest, attempt_id: Id, query: Query[LineQuery]) -> dict[str, Any]:
    """Finished lines from number `from_line` on."""
    attempt = get_object_or_404(Attempt, pk=attempt_id)
    lines = window(attempt.pk, after=query.from_line - 1, count=query.limit)
    items = [{"number": number, "text": text, "left_out": left_out} for number, (text, left_out) in lines]
    next_line = lines[-1][0] + 1 if lines else query.from_line
    return {"items": items, "next_line": next_line, "log_lines": attempt.log_lines}


@router.get("/{attempt_id}/log/raw", auth=may("view_logchunk"), response={200: bytes})
def read_bytes(request: HttpRequest, attempt_id: Id, query: Query[ByteQuery]) -> HttpResponse:
    """At most `limit` bytes from `offset` on, exactly as the process wrote them; `X-Next-Offset` says where to go on."""
    attempt = get_object_or_404(Attempt, pk=attempt_id)
    data = _bytes(attempt, query.offset, query.limit)
    headers = {
        "X-Next-Offset": str(query.offset + len(data)),
        "Content-Disposition": f'attachment; filename="{attempt.pk}.log"',
    }
    return HttpResponse(data, content_type="application/octet-stream", headers=headers)


def _bytes(attempt: Attempt, offset: int, limit: int) -> bytes:
    chunks = LogChunk.objects.filter(attempt=attempt)
    first = chunks.filter(offset__lte=offset).order_by("-offset").first()
    found = bytearray()
    if first is None:
        return bytes(found)
    for start, data in chunks.filter(offset__gte=first.offset).values_list("offset", "data").iterator(chunk_size=20):
        found += bytes(data)[max(0, offset - start) :]
        if len(found) >= limit:
            break
    return bytes(found[:limit])
