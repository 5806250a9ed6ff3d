"""The supervisor of one attempt: starts the stage, copies what it says, hands over what people ask, and tells how it ended.

One loop, one thread. Everything that the stage needs goes on while the database is away; everything that the database
missed meanwhile is copied from the files once it is back.
"""

import json
import logging
import os
import shutil
import signal
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.db.models import Q

from eagle3web import pokes
from eagle3web.domain import attempts, procfs, verdict
from eagle3web.domain.answer_copies import AnswerCopier, copier_of
from eagle3web.domain.clock import database_now
from eagle3web.domain.event_lines import last_word
from eagle3web.domain.ingest import Ingestor
from eagle3web.domain.log_shipper import LogShipper
from eagle3web.domain.outages import Patient
from eagle3web.domain.stage_process import Patience, StageProcess
from eagle3web.enums import AttemptStatus
from eagle3web.models import Attempt, ControlMessage, Run
from pipeline import control

LOOK_S = 0.05
"""Between two looks at files and process."""
STORE_S = 0.15
"""Between two transactions that store events: what comes first is stored at once, what follows in batches."""
CONTROL_S = 0.2
COPY_S = 0.5
"""Between two batches of answers that are copied into rows."""
BEAT_S = 2.0
"""Between two heartbeats at most; a new tick of the stage brings the next one forward."""
FULL_DISK = 1024 * 1024
"""Bytes; with less than this free, a stage that died without a word died of a full disk."""
log = logging.getLogger(__name__)


class Supervisor:
    def __init__(self, attempt: Attempt, *, patience: Patience | None = None) -> None:
        self._attempt = attempt
        self._folder = attempts.folder_of(attempt)
        self._patience = patience or patience_with(attempt)
        self._database = Patient()
        self._ingestor = Ingestor(attempt)
        self._shipper: LogShipper | None = None
        self._copier: AnswerCopier | None = copier_of(attempt)
        self._handed: set[int] = set()
        self._stop_reason = ""
        """Why the stage was asked to stop; empty while it was not."""
        self._signal: int | None = None
        self._fenced = False
        self._due = {"events": 0.0, "log": 0.0, "controls": 0.0, "beat": 0.0, "answers": 0.0}
        self._tick = b""
        self._news: dict[str, Any] = {}
        """Columns about the stage that are not stored yet."""
        self._began: float | None = None
        """When the stage was started, until that is stored: a moment of this process's own clock."""

    def run(self) -> None:
        """Carry the attempt from start to end. Returns at once when somebody else has it, or it has ended."""
        for sig in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sig, self._on_signal)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        claimed: list[bool] = []
        if not self._database.until_done(lambda: claimed.append(self._claim()), give_up=self._was_signalled) or not claimed[-1]:
            log.info("%s is not ours to supervise", self._attempt)
            return
        try:
            stage = self._start()
        except OSError as error:
            reason = f"failed: the stage could not be started: {error}"
            self._database.until_done(lambda: self._mark(AttemptStatus.FAILED, reason), give_up=self._was_signalled)
        else:
            self._watch(stage)
            code = stage.reap()
            full = self._full_disk()
            hint = full or ("" if code < 0 else _last_line(self._folder.log))
            ended = verdict.Exit.from_returncode(code, hint=hint, disk_full=bool(full))
            log.info("the stage ended: %s", ended.words)
            self._database.until_done(lambda: self._finish(ended), give_up=self._was_signalled)
        pokes.flush(timeout_s=1)

    def copy_answers(self) -> None:
        """Copy what is left of the answers, after the end: nobody waits for it, and the next attempt would go on with it."""
        copier = self._copier
        if copier is None:
            return
        sizes = [1]
        while sizes[-1] and not self._was_signalled():
            self._database.until_done(lambda: sizes.append(copier.copy()), give_up=self._was_signalled)

    def _claim(self) -> bool:
        """Take the attempt by its first heartbeat: of two supervisors one is first, and one that ended stays so."""
        me = {"supervisor_pid": os.getpid(), "supervisor_started": procfs.start_time(os.getpid())}
        here = {"boot_id": procfs.boot_id(), "host": settings.EAGLE3_HOST}
        # Ours already, if an earlier try was stored and its answer lost.
        unclaimed = Q(heartbeat_at=None) | Q(**me)
        live = Attempt.objects.filter(unclaimed, pk=self._attempt.pk, status__in=AttemptStatus.LIVE)
        return live.update(heartbeat_at=database_now(), **me, **here) == 1

    def _start(self) -> StageProcess:
        argv = [*self._attempt.argv, "--control-stdin", "--supervisor-pid", str(os.getpid())]
        stage = StageProcess(argv, folder=self._folder, cwd=settings.BASE_DIR)
        log.info("the stage has pid %d", stage.pid)
        self._news = {"pid": stage.pid, "pid_started": stage.started, "argv": argv}
        self._began = time.monotonic()
        return stage

    def _watch(self, stage: StageProcess) -> None:
        """Look after the stage until it has ended."""
        while not stage.has_ended():
            stage.flush()
            if self._signal is not None and not self._stop_reason:
                self._ask_to_stop(stage, f"stopped by signal {self._signal} to its supervisor")
            if self._database.is_ready():
                self._turn_safely(stage)
            if self._fenced and not self._stop_reason:
                # Its run may go on elsewhere already.
                self._ask_to_stop(stage, "its attempt was ended by somebody else", Patience(stop_s=2, term_s=2))
            if sent := stage.press():
                log.warning("the stage did not end by itself: sent signal %d to its group", sent)
            time.sleep(LOOK_S)

    def _turn_safely(self, stage: StageProcess) -> None:
        """A mistake of ours must not cost the stage its work: it is logged, and tried again with the next heartbeat."""
        try:
            self._database.does(lambda: self._turn(stage))
        except Exception:
            log.exception("the stage goes on, but what it says is not stored")
            self._database.start_over(BEAT_S)

    def _turn(self, stage: StageProcess) -> None:
        """Everything that needs the database, each in its time; what must work even if the rest does not comes first."""
        if (tick := self._read_tick()) != self._tick or self._is_due("beat", BEAT_S):
            self._beat(tick)
        if self._is_due("controls", CONTROL_S):
            self._hand_over(stage)
        if self._ingestor.has_more() and self._is_due("events", STORE_S):
            self._ingestor.store()
        if self._is_due("log", STORE_S):
            self._ship()
        if self._copier is not None and self._is_due("answers", COPY_S):
            self._copier.copy()

    def _hand_over(self, stage: StageProcess) -> None:
        """Write what people asked for to the stage's input, in order."""
        messages = list(ControlMessage.objects.filter(attempt=self._attempt, delivered_at=None).order_by("id"))
        for message in messages:
            if message.pk in self._handed:
                continue
            asked = control.KINDS[message.kind](**message.payload)
            if isinstance(asked, control.Stop):
                self._ask_to_stop(stage, asked.reason)
            else:
                stage.write(control.encode(asked))
            self._handed.add(message.pk)
        if messages:
            delivered = ControlMessage.objects.filter(pk__in=[message.pk for message in messages])
            delivered.update(delivered_at=database_now())
            attempts.announce(self._attempt.run)

    def _ask_to_stop(self, stage: StageProcess, reason: str, patience: Patience | None = None) -> None:
        log.info("asking the stage to stop: %s", reason)
        self._stop_reason = self._stop_reason or reason
        stage.write(control.encode(control.Stop(reason=reason)))
        stage.end(patience or self._patience)

    def _beat(self, tick: bytes) -> None:
        """Say that we live, and when the stage's loop last turned. Never revives an attempt that has ended."""
        now = database_now()
        fields = {"heartbeat_at": now, **self._told(now), **_tick_fields(tick, now)}
        if not Attempt.objects.filter(pk=self._attempt.pk, status__in=AttemptStatus.LIVE).update(**fields):
            self._fenced = True
        self._news, self._began = {}, None
        self._tick = tick
        self._due["beat"] = time.monotonic() + BEAT_S
        attempts.announce(self._attempt.run)

    def _told(self, now: datetime) -> dict[str, Any]:
        """What is not stored yet, the start of the stage by the database's clock as every other moment of an attempt."""
        started = {} if self._began is None else {"started_at": now - timedelta(seconds=time.monotonic() - self._began)}
        return self._news | started

    def _read_tick(self) -> bytes:
        try:
            return self._folder.heartbeat.read_bytes()
        except OSError:
            return b""

    def _ship(self, *, ended: bool = False) -> bool:
        self._shipper = self._shipper or LogShipper(self._attempt)
        shipped = self._shipper.ship(ended=ended)
        if shipped:
            attempts.announce(self._attempt.run)
        return shipped

    def _finish(self, ended: verdict.Exit) -> None:
        """Copy what is left in the files, then tell how it ended: never before everything that was said is stored."""
        while self._ingestor.store():
            pass
        while self._ship(ended=True):
            pass
        found = verdict.judge(ended, last_word(self._folder.events), stop_reason=self._asked_by())
        self._mark(found.status, found.reason, exit_code=ended.code, signal=ended.signal)

    def _asked_by(self) -> str:
        """Who asked for the stop; also when the message came after the stage had ended by itself."""
        run = Run.objects.select_related("stop_requested_by").get(pk=self._attempt.run_id)
        if run.stop_requested_by is not None:
            return f"stopped by {run.stop_requested_by.get_username()}"
        return self._stop_reason

    def _mark(self, status: AttemptStatus, reason: str, *, exit_code: int | None = None, signal: int | None = None) -> None:
        fields = {"exit_code": exit_code, "signal": signal} | self._told(database_now())
        if not attempts.mark(self._attempt, old=AttemptStatus.LIVE, new=status, reason=reason, **fields):
            log.info("%s had ended already", self._attempt)

    def _full_disk(self) -> str:
        """In words, when no room is left; what else was logged last does not explain an end then."""
        free = shutil.disk_usage(self._folder.path).free
        return f"the disk is full: {free} bytes free in {self._folder.path}" if free < FULL_DISK else ""

    def _is_due(self, what: str, every: float) -> bool:
        now = time.monotonic()
        if now < self._due[what]:
            return False
        self._due[what] = now + every
        return True

    def _was_signalled(self) -> bool:
        """Whether to give up waiting for the database: this host goes down, and the next reconcile reads the files."""
        return self._signal is not None

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        self._signal = number


def patience_with(attempt: Attempt) -> Patience:
    """How long the stage may take to end: a server is drained first, and given the time that its config says."""
    usual = Patience()
    return replace(usual, stop_s=usual.stop_s + float(attempt.config.get("drain_s", 0.0)))


def _tick_fields(tick: bytes, now: datetime) -> dict[str, object]:
    """Columns from the stage's tick, its moment moved to the database's clock."""
    try:
        told = json.loads(tick)
        age = datetime.now(UTC) - datetime.fromisoformat(told["t"])
        return {"tick_at": now - age, "waiting_for": str(told["waiting_for"])[:300]}
    except (ValueError, KeyError, TypeError):
        return {}


def _last_line(path: Path) -> str:
    """The last line of a log that says something, cut to what a sentence can hold."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            lines = file.read().decode(errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
