"""Starts the processes of the Procfile with honcho and waits until the site answers."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from django.conf import settings


class SystemNotReadyError(Exception):
    """A process ended, or something does not answer in time. The text says which and where its log is."""


def free_port() -> int:
    """A port of the loopback interface that nobody listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def port_is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Processes:
    """The processes named in `wanted`, in one honcho with its own log; `with` ends every one of them."""

    def __init__(self, wanted: list[str], *, port: int, log: Path, env: dict[str, str] | None = None) -> None:
        self.wanted = wanted
        self.port = port
        self.log = log
        # Not PORT: honcho gives each process another value of that.
        self.env = os.environ | {"EAGLE3_PORT": str(port), "PYTHONUNBUFFERED": "1"} | (env or {})
        self.env["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{self.env['PATH']}"
        self._honcho: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "honcho", "-f", str(settings.BASE_DIR / "Procfile"), "start", *self.wanted]
        with self.log.open("wb") as log:
            # A session of its own: Ctrl-C reaches only us, and we end the processes in order.
            self._honcho = subprocess.Popen(
                command, cwd=settings.BASE_DIR, env=self.env, stdout=log, stderr=log, start_new_session=True
            )
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._honcho is None:
            return
        self._honcho.send_signal(signal.SIGTERM)
        try:
            self._honcho.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._honcho.pid, signal.SIGKILL)
            self._honcho.wait()

    def check(self) -> None:
        """Raise SystemNotReadyError when honcho has ended, as it does when any of its processes ends."""
        if self._honcho is not None and self._honcho.poll() is not None:
            tail = "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])
            raise SystemNotReadyError(f"a process ended; the end of {self.log}:\n{tail}")

    def wait(self, *, needs: Callable[[dict[str, object]], bool], what: str, timeout_s: float) -> None:
        """Poll /healthz until `needs(health)`. Raises SystemNotReadyError that names what did not come."""
        deadline = time.monotonic() + timeout_s
        while not needs(self.health()):
            self.check()
            if time.monotonic() > deadline:
                raise SystemNotReadyError(f"{what} did not come within {timeout_s:.0f} s; see {self.log}")
            time.sleep(0.2)

    def health(self) -> dict[str, object]:
        """The site's own account of itself; empty while it does not answer."""
        try:
            # Our own loopback address.
            with urllib.request.urlopen(f"{self.url}/healthz", timeout=3) as answer:  # noqa: S310  # nosec B310
                body = answer.read()
        except urllib.error.HTTPError as error:  # 503 carries the same JSON
            body = error.read()
        except OSError:
            return {}
        try:
            found: dict[str, object] = json.loads(body)
        except ValueError:
            return {}
        return found
