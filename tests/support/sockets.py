"""A page's socket without a browser: the real ASGI application, a signed-in session, and what live.js does with messages."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.test import Client

from eagle3web.asgi import application
from eagle3web.models import User

Message = dict[str, Any]


class Socket:
    """One WebSocket at `/ws/live/`, as an ASGI server speaks it. (channels.testing would need daphne.)"""

    def __init__(self, headers: list[tuple[bytes, bytes]]) -> None:
        scope = {"type": "websocket", "path": "/ws/live/", "query_string": b"", "headers": headers, "subprotocols": []}
        communicator: Any = ApplicationCommunicator  # asgiref leaves it untyped
        self._app = communicator(application, scope)

    async def connect(self) -> bool:
        """Open it; False when the server refuses the handshake."""
        await self._app.send_input({"type": "websocket.connect"})
        answer = await self._app.receive_output(5)
        return bool(answer["type"] == "websocket.accept")

    async def send_text(self, text: str) -> None:
        await self._app.send_input({"type": "websocket.receive", "text": text})

    async def receive_text(self, timeout_s: float) -> str:
        event = await self._app.receive_output(timeout_s)
        assert event["type"] == "websocket.send", event
        return str(event["text"])

    async def close_code(self) -> int:
        """The code with which the server closes it, after whatever it still sends."""
        while (event := await self._app.receive_output(5))["type"] != "websocket.close":
            continue
        return int(event["code"])

    async def disconnect(self) -> None:
        await self._app.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._app.wait(5)


class Page:
    """One open page: its cursors, its fragments and the log lines that it has."""

    def __init__(self, *topics: str) -> None:
        self.cursors: dict[str, Any] = {topic: {} for topic in topics}
        self.fragments: dict[str, str] = {}
        self.lines: list[tuple[int, str]] = []
        self.points: list[list[Any]] = []
        self.kinds: list[str] = []
        self.socket: Socket | None = None

    async def receive(self, *, beats: bool = False, timeout_s: float = 10.0) -> Message:
        """The next message, taken in as the page does it; the server's count is checked. `beats`: those too."""
        assert self.socket is not None
        message: Message = json.loads(await self.socket.receive_text(timeout_s))
        if "topic" not in message:
            return message if beats else await self.receive(timeout_s=timeout_s)
        cursor = self.cursors[message["topic"]]
        if message["type"] == "delta":
            assert (cursor["epoch"], cursor["n"]) == (message["epoch"], message["from"])
        self.kinds.append(message["type"])
        self.fragments |= message["fragments"]
        streams = dict(cursor.get("streams", {}))
        for name, tail in message["streams"].items():
            if name == "log":
                self.lines += [(number, text) for number, (text, _left_out) in tail["entries"]]
            else:
                self.points += [data for _number, data in tail["entries"]]
            streams[name] = tail["entries"][-1][0]
        self.cursors[message["topic"]] = {"epoch": message["epoch"], "n": message["n"], "streams": streams}
        return message

    async def receive_until(self, what: Any, *, timeout_s: float = 10.0) -> None:  # noqa: ANN401  (a callable without arguments)
        """Take messages in until `what()` is true."""
        while not what():
            await self.receive(timeout_s=timeout_s)


def headers(user: User | None, *, origin: str = "http://localhost") -> list[tuple[bytes, bytes]]:
    """What a browser sends when it opens a socket from a page of this site."""
    found = [(b"host", b"localhost"), (b"origin", origin.encode())]
    if user is not None:
        client = Client()
        client.force_login(user)
        name = settings.SESSION_COOKIE_NAME
        found.append((b"cookie", f"{name}={client.cookies[name].value}".encode()))
    return found


@asynccontextmanager
async def opened(page: Page, user: User | None, *, origin: str = "http://localhost") -> AsyncIterator[Socket]:
    """Connect and subscribe with the page's cursors."""
    socket = Socket(await sync_to_async(headers)(user, origin=origin))
    page.socket = socket
    assert await socket.connect()
    await socket.send_text(json.dumps({"subscribe": page.cursors}))
    try:
        yield socket
    finally:
        await socket.disconnect()
