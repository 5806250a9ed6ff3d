"""Real servers for tests: an ASGI application in a thread, the stub engine in a thread or as a process."""

import contextlib
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import uvicorn

from tests.support.stub_engine import Behaviour, StubEngine

ROOT = Path(__file__).resolve().parent.parent.parent


@contextlib.contextmanager
def serving(app: Any, *, lifespan: Literal["on", "off"] = "off") -> Iterator[str]:  # noqa: ANN401  (any ASGI application)
    """Serve `app` on a free port in a thread; yields its base URL and ends the server on the way out."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    config = uvicorn.Config(app, lifespan=lifespan, ws="none", log_level="critical", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        wait_until(lambda: server.started, "the server starts")
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        server.force_exit = lifespan == "off"
        if lifespan == "on":
            thread.join(10)
        # Else it ends by itself within 0.2 s; waiting for that would double the time of a test.


@contextlib.contextmanager
def stub_engine(behaviour: Behaviour | None = None) -> Iterator[tuple[StubEngine, str]]:
    """A stub engine in a thread, as `(stub, url)`."""
    stub = StubEngine(behaviour or Behaviour())
    with serving(stub) as url:
        yield stub, url


@contextlib.contextmanager
def stub_process(behaviour: Behaviour | None = None, *, port: int = 0) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A stub engine as a process of its own, as `(process, url)`; it is killed on the way out."""
    how = behaviour or Behaviour()
    flags: list[str] = []
    for f in fields(Behaviour):
        value = getattr(how, f.name)
        if value is True:
            flags.append(f"--{f.name.replace('_', '-')}")
        elif value is not False:
            flags += [f"--{f.name.replace('_', '-')}", str(value)]
    command = [sys.executable, "-m", "tests.support.stub_engine", "--port", str(port), *flags]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().rsplit(" ", 1)[1].strip()
    finally:
        process.kill()
        process.communicate()


def wait_until(condition: Any, what: str, timeout_s: float = 20.0) -> None:  # noqa: ANN401  (a callable without arguments)
    """Poll until `condition()` is true. Raises AssertionError that says what was waited for."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout_s:.0f} s in vain until {what}")
        time.sleep(0.01)
