"""A project with real prompts, a stub engine and people, inside a real system: what the stories start from."""

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.db import connection

from eagle3web.domain import budgets, procfs
from eagle3web.domain.clock import database_now
from eagle3web.domain.datasets import import_file
from eagle3web.domain.people import issue_token
from eagle3web.domain.registry import register_engine
from eagle3web.domain.shown import Shown, shown_run
from eagle3web.enums import AttemptStatus, Role, RunStatus
from eagle3web.models import Attempt, DatasetProgress, Engine, Event, LogChunk, Run
from pipeline.artifacts import Home
from pipeline.responses.reading import Recount, recount
from tests.support import factories
from tests.support.models import tiny_tokenizer
from tests.support.prompts import write_lines
from tests.support.servers import stub_process, wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System

VOCAB = 300
"""The stub answers with ids below this, which the tiny tokenizer knows."""


class World:
    def __init__(self, system: System, root: Path, behaviour: Behaviour) -> None:
        self.system = system
        self.behaviour = behaviour
        self.user = factories.user("ada", groups=(Role.OPERATOR, Role.BUDGET_ADMIN))
        self.project = factories.project(
            slug="kimi", tokenizer=str(tiny_tokenizer(root / "tokenizer")), sampling={"max_new_tokens": 200}
        )
        self._token = issue_token(self.user, "stories")
        self._root = root
        self._engine = contextlib.ExitStack()
        self.engine: subprocess.Popen[str] | None = None
        self._port = 0

    def add(self, slug: str, *, prompts: int = 400, tokens: int | None = 4000, **fields: Any) -> None:
        """Import a dataset and give it a budget."""
        path = write_lines(self._root / f"{slug}.jsonl", *({"prompt": f"Question {n} of {slug}?"} for n in range(prompts)))
        revision = import_file(path, slug=slug, user=self.user)
        budgets.create_budget(self.project, revision.dataset, user=self.user, tokens=tokens, **fields)

    def start_engine(self) -> None:
        """The stub engine, at the same address each time."""
        self._engine = contextlib.ExitStack()
        self.engine, url = self._engine.enter_context(stub_process(self.behaviour, port=self._port))
        self._port = int(url.rsplit(":", 1)[1])
        if not Engine.objects.filter(name="stub").exists():
            register_engine("stub", url=url, user=None)

    def kill_engine(self) -> None:
        self._engine.close()
        self.engine = None

    def call(self, method: str, path: str, body: Any = None) -> Any:  # noqa: ANN401  (JSON)
        """Call the API as a program does. Raises HTTPError."""
        request = urllib.request.Request(  # noqa: S310  (our own loopback address)
            f"{self.system.url}/api{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {self._token}", "content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
            return json.loads(answer.read() or b"null")

    def start_run(self, **fields: Any) -> Run:
        """A run, made through the API."""
        told = self.call("POST", "/runs", {"project": self.project.slug, "engines": ["stub"], "concurrency": 4} | fields)
        return Run.objects.get(pk=told["id"])

    def resume(self, run: Run) -> None:
        self.call("POST", f"/runs/{run.pk}/resume")

    def shown(self, run: Run) -> Shown:
        run.refresh_from_db()
        return shown_run(run, run.attempts.order_by("number").last(), database_now())

    def attempt(self, run: Run, number: int) -> Attempt:
        return run.attempts.get(number=number)

    def wait_status(self, run: Run, *statuses: str, timeout_s: float = 60.0) -> Run:
        def has_come() -> bool:
            run.refresh_from_db()
            return run.status in statuses

        try:
            wait_until(has_come, f"the run is {' or '.join(statuses)}", timeout_s)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.describe(run)}") from error
        return run

    def wait_answers(self, run: Run, count: int, timeout_s: float = 60.0) -> None:
        """Until the last attempt has told of `count` answers."""
        wait_until(lambda: self.answers(run) >= count, f"{count} answers are told", timeout_s)

    def answers(self, run: Run) -> int:
        last = run.attempts.order_by("number").last()
        return 0 if last is None else sum(row.done for row in last.datasets.all())

    def wait_until_still(self, timeout_s: float = 40.0) -> None:
        """Until no run is live and no process of an attempt is left."""
        wait_until(lambda: not Run.objects.filter(status__in=RunStatus.LIVE).exists(), "no run is live", timeout_s)
        wait_until(lambda: not self.of_attempts(), "no process of an attempt is left", timeout_s)

    def of_attempts(self) -> dict[int, str]:
        """Supervisors and stages that live, pid → command line."""
        return {pid: line for pid, line in self.system.left().items() if " supervise " in line or " -m pipeline " in line}

    def recount(self) -> dict[str, Recount]:
        """Every dataset's answers, counted in the files."""
        folder = Home(self.system.home).responses(self.project.slug)
        return recount(folder) if folder.exists() else {}

    def check_truth(self, run: Run) -> None:
        """The rows say what the files say: counts, every event, every byte of the logs, and who lives."""
        found = self.recount()
        last = run.attempts.order_by("number").last()
        assert last is not None
        for row in last.datasets.exclude(state="pending"):
            count = found.get(row.dataset, Recount())
            assert (count.duplicates, count.unreadable) == (0, 0)
            if last.status in {AttemptStatus.FINISHED, AttemptStatus.STOPPED}:
                assert (row.dataset, row.done, row.tokens) == (row.dataset, count.answers, count.tokens)
            assert row.in_flight == 0
        for attempt in run.attempts.all():
            check_copies(attempt)
        assert not Attempt.objects.filter(status__in=AttemptStatus.LIVE).exists()
        assert not DatasetProgress.objects.filter(state="running").exists()
        assert self.of_attempts() == {}

    def describe(self, run: Run) -> str:
        """For a failing test: where everything stands."""
        parts = [f"{run.status}"]
        for attempt in run.attempts.all():
            parts.append(f"attempt {attempt.number} {attempt.status} {attempt.reason!r}")
            folder = Path(attempt.folder)
            for name in ("supervisor.txt", "log.txt"):
                if (folder / name).exists():
                    parts.append(f"{name}: {(folder / name).read_text(errors='replace')[-1500:]}")
        return "\n".join([*parts, f"worker: {self.system.said('worker')[-1500:]}"])

    def close(self) -> None:
        self._engine.close()
        connection.close()


def check_copies(attempt: Attempt) -> None:
    """Every finished line of events.jsonl and every byte of log.txt is in the database, once and in order."""
    folder = Path(attempt.folder)
    events_file, log_file = folder / "events.jsonl", folder / "log.txt"
    lines = events_file.read_bytes().split(b"\n")[:-1] if events_file.exists() else []
    written = [json.loads(line)["seq"] for line in lines]
    assert list(Event.objects.filter(attempt=attempt).order_by("seq").values_list("seq", flat=True)) == written
    stored = b"".join(bytes(chunk.data) for chunk in LogChunk.objects.filter(attempt=attempt).order_by("offset"))
    assert stored == (log_file.read_bytes() if log_file.exists() else b"")


def kill(pid: int | None, sig: signal.Signals = signal.SIGKILL) -> float:
    """Send a signal to a process that must be there; the moment."""
    assert pid is not None
    os.kill(pid, sig)
    return time.monotonic()


def freeze(*pids: int | None) -> None:
    """SIGSTOP, at a moment when none of them holds the only write lock of a database in a file: all hosts would wait for it."""
    while True:
        for pid in pids:
            kill(pid, signal.SIGSTOP)
        if can_be_written():
            return
        for pid in pids:
            kill(pid, signal.SIGCONT)
        time.sleep(0.2)  # for the write to end


def can_be_written() -> bool:
    """Whether nobody holds SQLite's only write lock for long. A server has a lock for each row."""
    if connection.vendor != "sqlite":
        return True
    with contextlib.closing(sqlite3.connect(connection.settings_dict["NAME"], timeout=2)) as other:
        try:
            other.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return False
        other.rollback()
        return True


def is_gone(pid: int | None, started: float | None) -> bool:
    return not procfs.is_alive(pid, started)


def seconds_until(condition: Callable[[], bool], what: str, *, since: float, timeout_s: float) -> float:
    """Wait for a condition; the seconds from `since` to its coming."""
    wait_until(condition, what, timeout_s)
    return time.monotonic() - since


@contextlib.contextmanager
def world(system: System, root: Path, behaviour: Behaviour) -> Iterator[World]:
    """The world with its engine running; both end on the way out."""
    made = World(system, root, behaviour)
    try:
        made.start_engine()
        yield made
    finally:
        made.close()
