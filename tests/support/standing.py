"""One site that stands while tests change rows alone: to start one takes longer than most of them."""

import shutil
from pathlib import Path

from redis import Redis

from tests.support.system import System


class StandingSite:
    """Web and broker over one home. Whoever wants processes of its own closes it first: there is one broker's socket."""

    def __init__(self, home: Path, *, socket: Path, static: Path) -> None:
        self._home = home
        self._socket = socket
        self._static = static
        self._system: System | None = None

    def open(self) -> System:
        """The site, started where none stands or a test has ended one of its processes; its broker is empty."""
        if self._system is None or any(process.poll() is not None for process in self._system.processes.values()):
            self.close()
            self._home.mkdir()
            self._system = System(self._home, socket=self._socket, static=self._static)
            self._system.start("valkey", "web")
        with Redis(unix_socket_path=str(self._socket)) as broker:
            broker.flushall()
        return self._system

    def close(self) -> None:
        if self._system is not None:
            self._system.close()
            self._system = None
        shutil.rmtree(self._home, ignore_errors=True)
