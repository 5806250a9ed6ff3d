"""A PostgreSQL server of a test's own, from Debian's programs, which want another user than root.

python -m tests.support.postgres python -m pytest tests/eagle3web    # the same tests, on PostgreSQL
"""

import contextlib
import getpass
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from eagle3web.system.processes import free_port

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)


class Postgres:
    """Another process may drive the same server: `Postgres(folder, port)` over a folder that has one."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.url = f"postgres://eagle3@127.0.0.1:{port}/postgres"

    def environment(self) -> dict[str, str]:
        """What makes a test session of its own use this server, and find it where it must go away for a while."""
        return {"DATABASE_URL": self.url, "EAGLE3_TEST_POSTGRES": f"{self.port} {self.folder}"}

    def create(self) -> None:
        self._run("initdb", "--auth", "trust", "--username", "eagle3", "--encoding", "UTF8", "--no-sync")

    def start(self) -> None:
        options = f"-c listen_addresses=127.0.0.1 -c port={self.port} -c unix_socket_directories='' -c fsync=off"
        self._run("pg_ctl", "-w", "-o", options, "-l", str(self.folder / "log"), "start")

    def stop(self) -> None:
        """As a crash does: clients are cut, and nothing is tidied up."""
        self._run("pg_ctl", "-w", "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        assert PROGRAMS is not None
        command = [str(PROGRAMS / program), "-D", str(self.folder / "data"), *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", *command]
        # No pipe: the server would inherit it, and reading it would never end.
        subprocess.run(command, cwd=self.folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)


@contextlib.contextmanager
def postgres() -> Iterator[Postgres]:
    """A running server; it ends on the way out, and its data with it."""
    folder = Path(tempfile.mkdtemp(prefix="eagle3-pg-"))
    owner = "postgres" if os.geteuid() == 0 else getpass.getuser()
    shutil.chown(folder, owner)
    server = Postgres(folder, free_port())
    try:
        server.create()
        server.start()
        try:
            yield server
        finally:
            with contextlib.suppress(subprocess.CalledProcessError):
                server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """`python -m tests.support.postgres COMMAND …`: run a command with DATABASE_URL of a server of its own; its exit code."""
    if PROGRAMS is None:
        sys.exit("PostgreSQL is not installed: apt-get install postgresql")
    with postgres() as server:
        return subprocess.run(sys.argv[1:], env=os.environ | server.environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
