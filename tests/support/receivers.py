"""Where notifications arrive: a webhook and a mail server on this machine, each in a thread."""

import contextlib
import json
import socketserver
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Hook:
    """What came to a webhook. `status` is what it answers; a redirect leads to `/elsewhere`."""

    def __init__(self) -> None:
        self.status = 200
        self.calls: list[tuple[str, dict[str, Any]]] = []
        """Path and JSON body of each."""
        self.address = ""
        """HOST:PORT."""


@contextlib.contextmanager
def hook() -> Iterator[Hook]:
    """A webhook that takes JSON."""
    found = Hook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.calls.append((self.path, json.loads(body)))
            self.send_response(found.status)
            if 300 <= found.status < 400:
                self.send_header("Location", f"http://{found.address}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_line: object) -> None:
            """Nothing: a test's own output is enough."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.address = f"127.0.0.1:{server.server_port}"
        with _serving(server):
            yield found


class Mailbox:
    """Mails as they came, with their headers."""

    def __init__(self) -> None:
        self.mails: list[str] = []
        self.address = ""


@contextlib.contextmanager
def mail_server() -> Iterator[Mailbox]:
    """As much SMTP as a mail without a password needs."""
    found = Mailbox()

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say(220)
            while line := self.rfile.readline():
                command = line.split()[0].upper()
                if command == b"DATA":
                    self._say(354)
                    found.mails.append(self._read_mail())
                self._say(221 if command == b"QUIT" else 250)
                if command == b"QUIT":
                    return

        def _read_mail(self) -> str:
            lines = []
            while (line := self.rfile.readline()) not in (b".\r\n", b""):
                lines.append(line)
            return b"".join(lines).decode()

        def _say(self, code: int) -> None:
            self.wfile.write(f"{code} ok\r\n".encode())

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    with Server(("127.0.0.1", 0), Handler) as server:
        found.address = f"127.0.0.1:{server.server_address[1]}"
        with _serving(server):
            yield found


@contextlib.contextmanager
def _serving(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join(5)
