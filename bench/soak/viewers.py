"""Pages that stay open, and how old a number is when it reaches one of them."""

import asyncio
import json
import re
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import websockets

DONE = re.compile(r'data-l="Answers"><span>([\d ]+) ')


@dataclass
class Viewer:
    """One page of one run."""

    topic: str
    seen: dict[int, float] = field(default_factory=dict)
    """Number of answers → when it came, seconds since 1970."""
    cursor: dict[str, Any] = field(default_factory=dict)
    reconnects: int = -1

    async def look(self, url: str, cookie: str, stop: asyncio.Event) -> None:
        """Hold the page open until `stop`; a connection that ends is made again, as a browser does."""
        headers = {"Cookie": cookie, "Origin": url}
        address = url.replace("http", "ws") + "/ws/live/"
        while not stop.is_set():
            self.reconnects += 1
            try:
                async with websockets.connect(address, additional_headers=headers, max_size=None) as socket:
                    await socket.send(json.dumps({"subscribe": {self.topic: self.cursor}}))
                    await self._read(socket, stop)
            except (OSError, websockets.WebSocketException):
                await asyncio.sleep(1)

    async def _read(self, socket: websockets.ClientConnection, stop: asyncio.Event) -> None:
        while not stop.is_set():
            try:
                async with asyncio.timeout(0.5):
                    self._take(str(await socket.recv()))
            except TimeoutError:
                continue

    def _take(self, text: str) -> None:
        now = time.time()
        message = json.loads(text)
        if "topic" not in message:
            return
        streams = dict(self.cursor.get("streams", {}))
        streams |= {name: tail["entries"][-1][0] for name, tail in message["streams"].items()}
        self.cursor = {"epoch": message["epoch"], "n": message["n"], "streams": streams}
        if found := DONE.search(message["fragments"].get("run-datasets", "")):
            self.seen.setdefault(int(re.sub(r"\D", "", found[1])), now)


def told(events: Path) -> dict[int, float]:
    """Number of answers → when the stage wrote it to its file, seconds since 1970."""
    found: dict[int, float] = {}
    for line in map(json.loads, events.read_bytes().split(b"\n")[:-1]):
        if line["kind"] == "generation_progress":
            found.setdefault(line["done"], datetime.fromisoformat(line["t"]).timestamp())
    return found


def lags(viewer: Viewer, written: dict[int, float]) -> list[float]:
    """For each number that was written while the page was open, how long it took until the page had it or a newer one."""
    came = sorted(viewer.seen.items())
    found, at = [], 0
    for number, then in sorted(written.items()):
        while at < len(came) and came[at][0] < number:
            at += 1
        if at < len(came) and then >= came[0][1]:
            found.append(came[at][1] - then)
    return found
