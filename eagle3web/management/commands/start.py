"""`manage.py start`: the system in the foreground, for real use on one machine (`make run`)."""

import argparse
import os
import signal
import sys
import time
from types import FrameType
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from eagle3web.domain.people import create_first_admin
from eagle3web.enums import RunStatus
from eagle3web.models import Run
from eagle3web.system.processes import Processes, SystemNotReadyError, port_is_free

WANTED = ["valkey", "web", "worker", "beat"]


class Command(BaseCommand):
    help = "Start the whole system in the foreground: Valkey, web, worker and beat. Ctrl-C ends it; running attempts go on."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        add_port(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        port: int = options["port"]
        if not port_is_free(port):
            raise CommandError(f"port {port} is taken; choose another one: make run PORT={port + 1}")
        prepare()
        admin = create_first_admin()
        for ending in (signal.SIGINT, signal.SIGTERM):  # SIGINT too: a shell starts background jobs with it ignored
            signal.signal(ending, as_interrupt)
        with Processes(WANTED, port=port, log=settings.EAGLE3_HOME / "system.log") as system:
            try:
                system.wait(needs=lambda health: bool(health.get("workers")), what="the worker", timeout_s=60)
                self.stdout.write(f"eagle3web runs at {system.url} (log: {system.log})")
                if admin is not None:
                    self.stdout.write(f"First start. Sign in as {admin[0]} with the password {admin[1]} (shown only now)")
                self.stdout.write("Ctrl-C stops it.")
                while True:
                    system.check()
                    time.sleep(1)
            except SystemNotReadyError as error:
                raise CommandError(str(error)) from error
            except KeyboardInterrupt:
                live = Run.objects.filter(status__in=RunStatus.LIVE).count()
                note = f"; {live} live runs go on without it" if live else ""
                self.stdout.write(f"\nStopping the system{note}.")


def add_port(parser: argparse.ArgumentParser) -> None:
    # A default that is text is converted like a flag, so that a bad PORT gets argparse's sentence.
    parser.add_argument("--port", type=int, default=os.environ.get("PORT", "8000"), help="port of the site (PORT)")


def prepare() -> None:
    """Bring the database and the static files to this version."""
    call_command("migrate", interactive=False, verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)


def as_interrupt(signum: int, frame: FrameType | None) -> None:
    sys.stdout.flush()
    raise KeyboardInterrupt
