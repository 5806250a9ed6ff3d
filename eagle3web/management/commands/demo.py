"""`manage.py demo`: the main job on real prompts, from nothing to a finished run, in one terminal (`make demo`)."""

import argparse
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connection
from rich.console import Console

from eagle3web.domain import demo, runs
from eagle3web.domain.datasets import import_demo, measure_lengths
from eagle3web.domain.people import make_sign_in_link
from eagle3web.enums import RunStatus
from eagle3web.management.commands.start import WANTED, as_interrupt, prepare
from eagle3web.models import Run, User
from eagle3web.system.follow import WIDE, follow
from eagle3web.system.processes import Processes, SystemNotReadyError, free_port, port_is_free
from eagle3web.tasks import launch_soon
from pipeline.tokens import PromptTokenizer

STOP_WITHIN_S = 30.0


class Command(BaseCommand):
    help = "Import eight sets of real prompts, start the system with a small model, and generate answers under token budgets."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--budget", type=int, default=2000, help="completion tokens for each dataset (BUDGET)")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT", "8000")), help="port of the site (PORT)")
        parser.add_argument("--once", action="store_true", help="stop everything when the run has ended (ONCE=1)")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["budget"] < 1:
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

    def demonstrate(self, console: Console, *, budget: int, port: int, once: bool) -> list[str]:
        """The whole demo; what went wrong, in sentences. KeyboardInterrupt comes through after everything is stopped."""
        began, started = time.monotonic(), datetime.now(UTC)
        converting = convert_model()
        try:
            console.print("Preparing the database, the pages and eight sets of prompts …")
            prepare()
            user = demo.demo_user()
            revisions = list(import_demo(settings.EAGLE3_HOME, user=user))
            for revision in revisions:
                console.print(f"  {revision.dataset.slug:<16} {revision.accepted:>6,} prompts  {revision.dataset.licence}")
            console.print("Preparing the model (the first time only, some ten seconds) …")
            model = converted_model(converting)
        finally:
            if converting.poll() is None:
                converting.kill()
                converting.wait()
        tokenizer = PromptTokenizer.load(model)
        for revision in revisions:
            measure_lengths(revision, tokenizer)
        prepared_s = time.monotonic() - began
        project = demo.demo_project(tokenizer=model, budget=budget, user=user)
        engine_port = free_port()
        engine = demo.demo_engine(f"http://127.0.0.1:{engine_port}")
        connection.close()  # the processes that start now are their own readers; a held connection would pin the WAL
        env = {"EAGLE3_ENGINE_MODEL": str(model), "EAGLE3_ENGINE_PORT": str(engine_port)}
        with Processes([*WANTED, "engine"], port=port, log=settings.EAGLE3_HOME / "system.log", env=env) as system:
            run: Run | None = None
            try:
                self.greet(console, system, user)
                system.wait(needs=lambda health: bool(health.get("workers")), what="the worker", timeout_s=90)
                run = demo.demo_run(project, engine=engine, user=user)
                launch_soon(run)
                follow(run, console=console, check=system.check)
                times = {"prepare_s": round(prepared_s, 1), "total_s": round(time.monotonic() - began, 1)}
                run.refresh_from_db()
                path = settings.EAGLE3_HOME / "demo-summary.json"
                demo.write_summary(path, demo.summary(run, started=started, times=times))
                console.print(f"Summary: {path}")
                problems = demo.failures(run)
                if not once:
                    for problem in problems:
                        console.print(f"[red]{problem}[/red]")
                    console.print(f"The dashboard stays at {system.url}/ until Ctrl-C.")
                    wait_for_interrupt(system)
                return problems
            finally:
                if run is not None:
                    stop_and_wait(run, user)

    def greet(self, console: Console, system: Processes, user: User) -> None:
        """Print where to look as soon as the site answers."""
        system.wait(needs=bool, what="the site", timeout_s=60)
        console.print(f"\nDashboard: [bold]{system.url}/[/bold]")
        link = f"{system.url}{make_sign_in_link(user)}"
        console.print("One-time sign-in link:")
        console.print(link, soft_wrap=True, highlight=False)
        console.print()


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


def wait_for_interrupt(system: Processes) -> None:
    while True:
        system.check()
        time.sleep(1)


def stop_and_wait(run: Run, user: User) -> None:
    """Ask a live run to stop and wait for it: its supervisor is no child of the processes that end next."""
    run.refresh_from_db()
    if run.status not in RunStatus.LIVE:
        return
    runs.request_stop(run, user=user)
    deadline = time.monotonic() + STOP_WITHIN_S
    while run.status in RunStatus.LIVE and time.monotonic() < deadline:
        time.sleep(0.2)
        run.refresh_from_db()
