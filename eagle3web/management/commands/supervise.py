"""Supervises one attempt from its start to its end. Started by a worker, detached; lives as long as the stage does."""

import logging
from argparse import ArgumentParser
from functools import partial
from typing import Any

from django.core.management.base import BaseCommand
from django.db import connection

from eagle3web.domain.outages import Patient
from eagle3web.domain.supervise import Supervisor
from eagle3web.models import Attempt
from eagle3web.tasks import launch_followers

LOCK_WAIT_S = 2.0
"""A database that is locked must not hold up what the stage needs: give up soon, and try again."""
log = logging.getLogger(__name__)


class Command(BaseCommand):
    help = "Supervise an attempt: start its stage, copy its events and log, hand over control messages."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("attempt", type=int, help="key of the attempt")

    def handle(self, *_args: Any, attempt: int, **_options: Any) -> None:
        if connection.vendor == "sqlite":
            connection.settings_dict["OPTIONS"]["timeout"] = LOCK_WAIT_S
        found: list[Attempt | None] = []
        rows = Attempt.objects.select_related("run")
        Patient().until_done(lambda: found.append(rows.filter(pk=attempt).first()))
        if found[-1] is None:
            log.error("there is no attempt %d", attempt)
            return
        supervisor = Supervisor(found[-1])
        supervisor.run()
        # With the database away again, the next reconcile sends what this would have sent.
        Patient().does(partial(launch_followers, found[-1].run))
        supervisor.copy_answers()
