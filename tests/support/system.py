"""The whole system as real processes: the Procfile's own commands over a test's database and home.

A test reads and writes rows through the ORM as usual, and the processes see them, since both use the same database. They are
ended by pid when the test ends, also when it fails, together with every supervisor and stage that they left behind.
"""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from django.conf import settings
from django.db import connection

from eagle3web.system.processes import free_port
from eagle3web.system.valkey import answers
from tests.support.servers import wait_until

ROOT = Path(__file__).parents[2]
READY = {"worker": " ready.", "beat": " is starting."}
"""What a process writes to its log when it is ready; Valkey and the site are asked instead."""


class System:
    """Processes by their names in the Procfile. `url` is the site's address."""

    def __init__(self, home: Path, *, socket: Path, static: Path) -> None:
        self.home = home
        self.socket = socket
        self.static = static
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.homes: dict[str, Path] = {}
        """Name of a process → the folder that it and its children see in the place of `home`, as on a host of its own."""
        self._log_starts: dict[str, int] = {}
        self.env = os.environ | {
            "DJANGO_SETTINGS_MODULE": "eagle3web.settings",
            "DATABASE_URL": database_url(),
            "EAGLE3_HOME": str(home),
            "EAGLE3_HOST": settings.EAGLE3_HOST,
            "EAGLE3_IMPORT_ROOT": str(settings.EAGLE3_IMPORT_ROOT),
            "EAGLE3_SECRET_KEY": settings.SECRET_KEY,
            "OMP_NUM_THREADS": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "EAGLE3_PORT": str(self.port),
            "PYTHONUNBUFFERED": "1",
            "REDIS_URL": f"unix://{socket}",
        }

    def start(self, *names: str) -> None:
        """Start processes and wait until each is ready. `worker@gpu-01` is one more worker, on a host of that name."""
        if "web" in names:
            self._collect_static()
        for name in names:
            with self.log(name).open("ab") as log:
                self._log_starts[name] = log.tell()
                kind, _, host = name.partition("@")
                env = self.env | ({"EAGLE3_HOST": host} if host else {})
                command = ["sh", "-c", procfile()[kind]]
                if own := self.homes.get(name):
                    command = ["unshare", "--mount", "sh", "-c", f"mount --bind '{own}' '{self.home}' && {procfile()[kind]}"]
                # A process group of its own, as honcho gives it.
                self.processes[name] = subprocess.Popen(
                    command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, process_group=0
                )
        for name in names:
            self._wait_ready(name)

    def stop(self, name: str, *, sig: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to a process and wait until it has ended. SIGKILL is the hard way."""
        process = self.processes.pop(name)
        process.send_signal(sig)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def kill(self, name: str) -> None:
        self.stop(name, sig=signal.SIGKILL)

    def restart(self, name: str) -> None:
        """Stop a process, if it still runs, and start it anew."""
        if name in self.processes:
            self.stop(name)
        self.start(name)

    def manage(self, *arguments: str) -> str:
        """Run `manage.py …` in the system's environment and return what it wrote."""
        command = [sys.executable, "manage.py", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def log(self, name: str) -> Path:
        return self.home / f"{name}.log"

    def said(self, name: str) -> str:
        """What a process wrote to its log since its last start."""
        return self.log(name).read_bytes()[self._log_starts[name] :].decode(errors="replace")

    def left(self) -> dict[int, str]:
        """Living processes that belong to this system, pid → command line; whoever started them."""
        mark = b"EAGLE3_HOME=" + os.fsencode(self.home)
        return {pid: command for pid, environment, command in _processes() if mark in environment.split(b"\0")}

    def orphans(self) -> dict[int, str]:
        """Supervisors, stages and other processes of this system that no name of the Procfile covers."""
        known = {process.pid for process in self.processes.values()}
        return {pid: command for pid, command in self.left().items() if pid not in known}

    def end(self, names: Iterable[str]) -> None:
        """Stop processes that we started, all at once, then kill whatever they and others left."""
        ending = list(names)
        for name in ending:
            self.processes[name].terminate()
        for name in ending:
            self.stop(name)
        for pid in self.orphans():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        wait_until(lambda: not self.orphans(), "no process is left that nobody started")

    def close(self) -> None:
        """End everything, the broker last."""
        self.end(name for name in self.processes if name != "valkey")
        self.end(list(self.processes))

    def _collect_static(self) -> None:
        """Once a session; each home then has a link to it."""
        target = self.home / "static"
        if not self.static.exists():
            self.manage("collectstatic", "--noinput", "--verbosity", "0")
            target.rename(self.static)
        if not target.exists():
            target.symlink_to(self.static)

    def _wait_ready(self, name: str) -> None:
        if name == "valkey":
            self._wait(name, lambda: answers(self.socket))
        elif name == "web":
            self._wait(name, self._site_answers)
        else:
            self._wait(name, lambda: READY[name.partition("@")[0]] in self.said(name))

    def _wait(self, name: str, condition: Callable[[], bool]) -> None:
        process = self.processes[name]

        def ready_or_dead() -> bool:
            assert process.poll() is None, f"{name} ended:\n{self.said(name)[-3000:]}"
            return condition()

        wait_until(ready_or_dead, f"{name} is ready", 60)

    def _site_answers(self) -> bool:
        try:
            urllib.request.urlopen(f"{self.url}/healthz", timeout=5).close()  # noqa: S310  (our own loopback address)
        except urllib.error.HTTPError:
            return True
        except OSError:
            return False
        return True


def procfile() -> dict[str, str]:
    """The Procfile, name → shell command."""
    lines = (ROOT / "Procfile").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if ": " in line)


def database_url() -> str:
    """DATABASE_URL of the database that this test session uses."""
    found = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{found['NAME']}"
    who = f"{found['USER']}:{found['PASSWORD']}@" if found["USER"] else ""
    return f"postgres://{who}{found['HOST']}:{found['PORT']}/{found['NAME']}"


def _processes() -> Iterator[tuple[int, bytes, str]]:
    """`(pid, environment, command line)` of every process that we may look into, zombies left out."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if command:
            yield int(folder.name), environment, shlex.join(os.fsdecode(part) for part in command.rstrip(b"\0").split(b"\0"))
