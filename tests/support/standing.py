"""One site that stands from one test to the next: to start one takes longer than most of them."""

import shutil
from pathlib import Path

from redis import Redis

from tests.support.system import System

STANDING = ("valkey", "web")


class StandingSite:
    """Web and broker over one home. Whoever wants processes of its own closes it first: there is one broker's socket."""

    def __init__(self, home: Path, *, socket: Path, static: Path) -> None:
        self._home = home
        self._socket = socket
        self._static = static
        self._system: System | None = None

    def open(self) -> System:
        """The site, started where none stands or a test has ended one of its processes; its broker is empty."""
        if self._system is None or not _stands(self._system):
            self.close()
            self._home.mkdir()
            self._system = System(self._home, socket=self._socket, static=self._static)
            self._system.start(*STANDING)
        with Redis(unix_socket_path=str(self._socket)) as broker:
            broker.flushall()
        return self._system

    def tidy(self) -> None:
        """End what a test started beside the site, and empty the home; a site that a test has touched ends as well."""
        system = self._system
        if system is None or not _stands(system):
            self.close()
            return
        system.end(name for name in system.processes if name not in STANDING)
        kept = {system.log(name) for name in STANDING} | {self._home / "static", self._home / "valkey"}
        for path in set(self._home.iterdir()) - kept:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink()

    def close(self) -> None:
        if self._system is not None:
            self._system.close()
            self._system = None
        shutil.rmtree(self._home, ignore_errors=True)


def _stands(system: System) -> bool:
    return all(name in system.processes and system.processes[name].poll() is None for name in STANDING)
