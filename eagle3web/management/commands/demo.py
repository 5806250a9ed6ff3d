"""`manage.py demo`: the main job on real prompts, from nothing to a measured drafter, in one terminal (`make demo`)."""

import argparse
import contextlib
import logging
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from rich.console import Console

from eagle3web.domain import demo, demo_summary, lineage, runs
from eagle3web.domain.datasets import import_demo, measure_lengths
from eagle3web.domain.demo import NEW_BUDGET
from eagle3web.domain.people import make_sign_in_link
from eagle3web.enums import RunStatus
from eagle3web.management.commands.start import WANTED, add_port, as_interrupt, prepare
from eagle3web.models import Run, User
from eagle3web.system.follow import WIDE, follow, follow_chain
from eagle3web.system.processes import Processes, SystemNotReadyError, free_port, port_is_free
from eagle3web.tasks import launch_soon
from pipeline.tokens import PromptTokenizer

STOP_WITHIN_S = 30.0


class Clock:
    """How long the parts of a demo take."""

    def __init__(self) -> None:
        self.started = datetime.now(UTC)
        self._began = time.monotonic()
        self._prepare_s = 0.0

    def prepared(self) -> None:
        self._prepare_s = time.monotonic() - self._began

    def times(self) -> dict[str, float]:
        return {"prepare_s": round(self._prepare_s, 1), "total_s": round(time.monotonic() - self._began, 1)}


class Command(BaseCommand):
    help = (
        "Import eight sets of real prompts, start the system, and make a drafter for a small model: generate, train, measure."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--budget",
            type=int,
            help=f"completion tokens for each dataset (BUDGET); without it budgets stay, and new ones get {NEW_BUDGET}",
        )
        add_port(parser)
        parser.add_argument("--once", action="store_true", help="stop everything when the chain has ended (ONCE=1)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["budget"] is not None and options["budget"] < 1:
            raise CommandError("--budget: at least one token for each dataset")
        if not port_is_free(options["port"]):
            raise CommandError(f"port {options['port']} is taken; choose another one: make demo PORT={options['port'] + 1}")
        for ending in (signal.SIGINT, signal.SIGTERM):  # SIGINT too: a shell starts background jobs with it ignored
            signal.signal(ending, as_interrupt)
        console = Console() if sys.stdout.isatty() else Console(width=WIDE)
        try:
            problems = self.demonstrate(console, budget=options["budget"], port=options["port"], once=options["once"])
        except KeyboardInterrupt:
            console.print("Stopped. Everything generated so far is kept; [bold]make demo[/bold] goes on from there.")
            sys.exit(130)
        except SystemNotReadyError as error:
            raise CommandError(str(error)) from error
        if problems:
            raise CommandError("; ".join(problems))

    def demonstrate(self, console: Console, *, budget: int | None, port: int, once: bool) -> list[str]:
        """The whole demo; what went wrong, in sentences. KeyboardInterrupt comes through after everything is stopped."""
        # Valkey is not there yet while the rows are prepared, and nobody watches: that pokes are lost then is no news.
        logging.getLogger("eagle3web.pokes").setLevel(logging.ERROR)
        clock = Clock()
        user, model = self.prepare(console)
        demo.demo_project(model=model, budget=budget, user=user)
        engine_port, capture = free_port(), demo.capture_folder()
        engine = demo.demo_engine(f"http://127.0.0.1:{engine_port}", capture=capture)
        clock.prepared()
        connection.close()  # the processes that start now are their own readers; a held connection would pin the WAL
        env = {
            "EAGLE3_ENGINE_MODEL": str(model),
            "EAGLE3_ENGINE_PORT": str(engine_port),
            "EAGLE3_ENGINE_CAPTURE": str(capture),
        }
        with Processes([*WANTED, "engine"], port=port, log=settings.EAGLE3_HOME / "system.log", env=env) as system:
            try:
                self.greet(console, system, user)
                system.wait(needs=lambda health: bool(health.get("workers")), what="the worker", timeout_s=90)
                chain = demo.demo_chain(engine=engine, user=user)
                for run in chain:
                    if run.status == RunStatus.QUEUED and not lineage.held_words(run):
                        launch_soon(run)
                follow_chain(chain, console=console, check=system.check)
                problems = self.conclude(console, chain, clock)
                if once:
                    return problems
                while True:
                    for problem in problems:
                        console.print(problem, style="red", markup=False)
                    console.print(f"The dashboard stays at {system.url}/ until Ctrl-C.")
                    follow(next_live_run(system), console=console, check=system.check)
                    problems = self.conclude(console, chain, clock)
            finally:
                stop_all(user)

    def prepare(self, console: Console) -> tuple[User, Path]:
        """Database, pages, prompts and the model; whom the link signs in, and the model's folder."""
        converting = convert_model()
        try:
            console.print("Preparing the database, the pages and eight sets of prompts …")
            prepare()
            user = demo.demo_user()
            revisions = list(import_demo(settings.EAGLE3_HOME, user=user))
            for revision in revisions:
                console.print(
                    f"  {revision.dataset.slug:<16} {revision.accepted:>6,} prompts  {revision.dataset.licence}",
                    highlight=False,
                )
            if converting.poll() is None:
                console.print("Converting the model (this time only, some ten seconds) …")
            model = converted_model(converting)
        finally:
            if converting.poll() is None:
                converting.kill()
                converting.wait()
        tokenizer = PromptTokenizer.load(model)
        for revision in revisions:
            measure_lengths(revision, tokenizer)
        return user, model

    def greet(self, console: Console, system: Processes, user: User) -> None:
        """Print where to look as soon as the site answers."""
        system.wait(needs=bool, what="the site", timeout_s=60)
        console.print(f"\nDashboard: [bold]{system.url}/[/bold]")
        link = f"{system.url}{make_sign_in_link(user)}"
        console.print("One-time sign-in link:")
        console.print(link, soft_wrap=True, highlight=False)

    def conclude(self, console: Console, chain: Sequence[Run], clock: Clock) -> list[str]:
        """Write the summary and print what was measured; what went wrong."""
        for run in chain:
            run.refresh_from_db()
        path = settings.EAGLE3_HOME / "demo-summary.json"
        found = demo_summary.summary(chain, started=clock.started, times=clock.times())
        demo_summary.write_summary(path, found)
        console.print()
        for sentence in demo_summary.sentences(found["benchmark"]) if found["benchmark"] else ():
            console.print(sentence, highlight=False)
        console.print(f"Summary: {path}", highlight=False)
        return demo_summary.failures(chain)


def convert_model() -> subprocess.Popen[bytes]:
    """Convert the demo's model in a process of its own, since torch has no business in this one."""
    command = [sys.executable, "-m", "pipeline", "prepare-demo-model", "--home", str(settings.EAGLE3_HOME)]
    return subprocess.Popen(command, cwd=settings.BASE_DIR, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def converted_model(process: subprocess.Popen[bytes]) -> Path:
    """Wait for `convert_model`; the model's folder. Raises CommandError with the converter's last words."""
    output, _ = process.communicate()
    lines = output.decode(errors="replace").strip().splitlines()
    if process.returncode != 0 or not lines:
        raise CommandError("the demo's model could not be prepared:\n" + "\n".join(lines[-5:]))
    return Path(lines[-1])


def next_live_run(system: Processes) -> Run:
    """Wait until somebody starts or resumes a run in the browser."""
    while True:
        system.check()
        run = Run.objects.filter(status__in=RunStatus.LIVE).order_by("-id").first()
        if run is not None:
            return run
        time.sleep(1)


def stop_all(user: User) -> None:
    """Ask every live run to stop, whoever started it, and wait: supervisors are no children of the processes that end next."""
    live = Run.objects.filter(status__in=RunStatus.LIVE)
    for run in live:
        with contextlib.suppress(runs.NotAllowedNow):  # it ended by itself in this moment
            runs.request_stop(run, user=user)
    deadline = time.monotonic() + STOP_WITHIN_S
    while live.exists() and time.monotonic() < deadline:
        time.sleep(0.2)
