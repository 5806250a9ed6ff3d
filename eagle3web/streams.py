"""Files that are made while they are sent."""

import json
from collections.abc import AsyncIterator, Iterable, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse


def download(request: HttpRequest, pieces: Iterator[bytes], *, name: str, content_type: str) -> StreamingHttpResponse:
    """An answer that is saved under `name`; the pieces are made in a thread, where they may ask the database."""
    return StreamingHttpResponse(
        _from_loop(pieces) if isinstance(request, ASGIRequest) else pieces,
        content_type=content_type,
        headers={"Content-Disposition": f'attachment; filename="{name}"', "X-Content-Type-Options": "nosniff"},
    )


def json_array(records: Iterable[object]) -> Iterator[bytes]:
    """One array, a record a line."""
    start = "[\n"
    for record in records:
        yield f"{start}{json.dumps(record, ensure_ascii=False)}".encode()
        start = ",\n"
    yield b"[]\n" if start == "[\n" else b"\n]\n"


async def _from_loop(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    following = sync_to_async(lambda: next(pieces, None))
    while (piece := await following()) is not None:
        yield piece
