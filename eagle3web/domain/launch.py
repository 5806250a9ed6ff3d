"""From a queued run to a supervisor that lives by itself."""

import logging
import os
import platform
import subprocess
import sys
import threading
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from django.conf import settings
from django.db import transaction

from eagle3web.domain import attempts, controls, leases, lineage, placement, plans, procfs
from eagle3web.domain.clock import database_now
from eagle3web.enums import AttemptStatus, RunStatus, Stage
from eagle3web.models import Attempt, DatasetProgress, Run, TokenBudget
from pipeline.artifacts import Home, write_json
from pipeline.control import SetBudget
from pipeline.errors import PipelineError

log = logging.getLogger(__name__)


class _NotOursError(Exception):
    """Somebody was first, or something that the run needs is held by another one."""


def launch(run_id: int, number: int) -> Attempt | None:
    """Start attempt `number` of a queued run on this host; None when it is not to be started (any more, or yet).

    The compare-and-set `queued → starting` lets one of several deliveries of the same message through; `number` keeps a
    message that is older than a resume from starting anything. Consequences: the attempt with its leases and datasets, its
    folder with config.json, and a supervisor in a session of its own, which outlives the worker that started it.
    """
    run = Run.objects.select_related("project").filter(pk=run_id).first()
    if run is None or run.host not in {"", settings.EAGLE3_HOST}:
        log.info("run %d is not to be launched on this host", run_id)
        return None
    try:
        with transaction.atomic():
            attempt = _create(run, number)
    except _NotOursError as why:
        log.info("%s attempt %d is not launched: %s", run, number, why)
        return None
    except PipelineError as error:
        log.warning("%s cannot be launched: %s", run, error)
        _give_up(run, f"failed: {error}")
        return None
    try:
        _prepare_folder(attempt)
        _tell_newer_budgets(attempt)
        _start_supervisor(attempt)
    except (OSError, PipelineError) as error:
        reason = f"failed: it could not be started: {error}"
        attempts.mark(attempt, old=AttemptStatus.LIVE, new=AttemptStatus.FAILED, reason=reason)
    return attempt


def _create(run: Run, number: int) -> Attempt:
    if not Run.objects.filter(pk=run.pk, status=RunStatus.QUEUED).update(status=RunStatus.STARTING):
        raise _NotOursError("it is not queued")
    if run.attempts.count() != number - 1:
        raise _NotOursError("the message is about another attempt")
    if held := lineage.held_words(run):
        raise _NotOursError(f"it {held}")
    place = placement.here(run)
    if not place.host:
        raise _NotOursError(f"it {place.waits}")
    folder = Home(settings.EAGLE3_HOME).attempt(run.pk, number)
    config = plans.attempt_config(run, devices=place.devices)
    attempt = Attempt.objects.create(
        run=run,
        number=number,
        host=settings.EAGLE3_HOST,
        boot_id=procfs.boot_id(),
        folder=str(folder.path),
        created_at=database_now(),
        argv=[sys.executable, "-u", "-m", "pipeline", run.stage, str(folder.path)],
        config=config,
        git_sha=git_sha(),
        versions={"python": platform.python_version(), "django": version("django")},
    )
    if not leases.take(attempt, leases.needed(run, place.devices)):
        raise _NotOursError("another attempt holds what it needs")
    left = _left_on_disk(run, number, config)
    for position, plan in enumerate(_dataset_plans(run.stage, config)):
        DatasetProgress.objects.create(
            attempt=attempt,
            dataset=plan["slug"],
            position=position,
            total=plan["prompts_count"] or 0,
            budget=plan["budget"],
            max_samples=plan["max_samples"],
            budget_version=plan["budget_version"],
            **left.get(plan["slug"], {}),
        )
    attempts.record_transition(
        run, attempt=attempt, old=RunStatus.QUEUED, new=RunStatus.STARTING, reason=f"launched on {attempt.host}", author=None
    )
    return attempt


def _dataset_plans(stage: str, config: dict[str, Any]) -> list[dict[str, Any]]:
    """The datasets that an attempt works through one by one: those of a generation."""
    plans_of: list[dict[str, Any]] = config.get("datasets", []) if stage == Stage.GENERATE else []
    return plans_of


def _left_on_disk(run: Run, number: int, config: dict[str, Any]) -> dict[str, dict[str, int | float]]:
    """What the attempt before left of each dataset that asks for the same records: shown until the new process has counted."""
    before = run.attempts.filter(number=number - 1).first()
    if before is None:
        return {}
    asked, asks = (
        {plan["slug"]: (plan["revision"], plan["sampling"]) for plan in _dataset_plans(run.stage, each)}
        for each in (before.config, config)
    )
    same = [slug for slug, records in asks.items() if asked.get(slug) == records]
    counts = ("tokens", "done", "errors", "truncated", "longest", "mean_completion")
    rows = before.datasets.filter(dataset__in=same).values("dataset", *counts)
    return {row["dataset"]: {name: row[name] for name in counts} for row in rows}


def _give_up(run: Run, reason: str) -> None:
    """End a run that cannot even have an attempt."""
    with transaction.atomic():
        if Run.objects.filter(pk=run.pk, status=RunStatus.QUEUED).update(status=RunStatus.FAILED):
            attempts.record_transition(run, old=RunStatus.QUEUED, new=RunStatus.FAILED, reason=reason, author=None)


def _prepare_folder(attempt: Attempt) -> None:
    """A folder of its own. One that is there already belongs to a database that is gone, and is moved aside with its files."""
    folder = attempts.folder_of(attempt)
    if folder.path.exists():
        folder.path.rename(folder.path.with_name(f"{folder.path.name}.before-{datetime.now(UTC):%Y%m%dT%H%M%S%f}"))
    folder.path.mkdir(parents=True)
    write_json(folder.config, attempt.config)


def _tell_newer_budgets(attempt: Attempt) -> None:
    """Send what was edited between reading the budgets and writing the attempt: the edit found nobody to tell."""
    started = {plan["slug"]: plan["budget_version"] for plan in _dataset_plans(attempt.run.stage, attempt.config)}
    budgets = TokenBudget.objects.filter(project=attempt.run.project, dataset__slug__in=started).select_related("dataset")
    for budget in budgets:
        if budget.version > started[budget.dataset.slug]:
            message = SetBudget(
                dataset=budget.dataset.slug,
                tokens=budget.tokens,
                max_samples=budget.max_samples,
                enabled=budget.enabled,
                version=budget.version,
            )
            controls.leave(attempt, message, user=None)


def _start_supervisor(attempt: Attempt) -> None:
    """In a session of its own, so that neither the worker's end nor its terminal's reaches it."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "supervise", str(attempt.pk)]
    with attempts.folder_of(attempt).supervisor_log.open("ab") as out:
        process = subprocess.Popen(
            command,
            cwd=settings.BASE_DIR,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    # Nobody needs its exit; waiting for it only keeps it from staying a zombie.
    threading.Thread(target=process.wait, name=f"reap {process.pid}", daemon=True).start()
    seen: dict[str, Any] = {"supervisor_pid": process.pid, "supervisor_started": procfs.start_time(process.pid)}
    Attempt.objects.filter(pk=attempt.pk, supervisor_pid=None).update(**seen)


def environment() -> dict[str, str]:
    """What a supervisor needs to find the same home and host as this process, whoever set them."""
    return os.environ | {"EAGLE3_HOME": str(settings.EAGLE3_HOME), "EAGLE3_HOST": settings.EAGLE3_HOST}


@cache
def git_sha() -> str:
    """The commit that this program was started from; empty outside a checkout."""
    command = ["git", "-C", str(settings.BASE_DIR), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
