"""Copies events.jsonl into the database: in order, each line once, everything that follows from it in the same transaction."""

import logging
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from eagle3web.domain import attempts, controls, notifications
from eagle3web.domain.clock import database_now
from eagle3web.domain.copies import Copies
from eagle3web.domain.event_lines import clean, read_batch, typed
from eagle3web.enums import AttemptStatus
from eagle3web.models import Attempt, Event, Run
from pipeline import events

log = logging.getLogger(__name__)


class _TakenError(Exception):
    """Somebody else stored these lines meanwhile."""


class Ingestor:
    """Reads on from where the database stands. Survives failed transactions: the next call starts from the database again."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._path = attempts.folder_of(attempt).events
        self._copies: Copies | None = None
        self._offset = 0
        self._last_seq = 0

    def has_more(self) -> bool:
        """Whether the file has grown beyond what is stored; asks the disk only."""
        try:
            return self._copies is None or self._path.stat().st_size > self._offset
        except FileNotFoundError:
            return False

    def store(self) -> int:
        """Store the next lines, in one transaction; how many bytes of the file they were. 0: nothing is new.

        Consequences: Event rows, what follows from them (domain.copies), acknowledged control messages, the attempt's own
        fields, what people are told of, a poke; `stage_started` makes a starting attempt run. Lines that are stored already are
        passed over.
        """
        copies = self._copies or self._read_place()
        batch = read_batch(self._path, offset=self._offset)
        if batch.end == self._offset:
            return 0
        # Whatever fails from here on, the rows in memory are ahead of the database: forget them.
        self._copies = None
        try:
            with transaction.atomic():
                self._store(batch.lines, copies, end=batch.end)
        except _TakenError:
            return 0
        size, self._offset, self._copies = batch.end - self._offset, batch.end, copies
        return size

    def _read_place(self) -> Copies:
        row = Attempt.objects.values("events_offset", "last_seq").get(pk=self._attempt.pk)
        self._offset, self._last_seq = row["events_offset"], row["last_seq"]
        self._copies = Copies(self._attempt, again=not self._last_seq)
        return self._copies

    def _store(self, lines: list[events.Line], copies: Copies, *, end: int) -> None:
        # One reader at a time: the lock of the run comes first everywhere (attempts.mark).
        Run.objects.select_for_update(no_key=True).get(pk=self._attempt.run_id)
        attempt = Attempt.objects.filter(pk=self._attempt.pk)
        if not attempt.filter(events_offset=self._offset).exists():
            raise _TakenError
        fields: dict[str, Any] = {"events_offset": end}
        # Between the stage's clock and the database's.
        shift = database_now() - datetime.now(UTC)
        rows = []
        last_seq = self._last_seq
        for line in lines:
            if line.seq <= last_seq:
                continue
            last_seq = line.seq
            payload = clean(line.payload)
            rows.append(Event(attempt=self._attempt, seq=line.seq, t=line.t, kind=line.kind[:40], payload=payload))
            event = typed(events.Line(seq=line.seq, t=line.t, kind=line.kind, payload=payload))
            if copies.apply(event, line.t):
                fields["progress_at"] = line.t + shift
            fields |= self._follow(event)
            notifications.tell_of_event(self._attempt, event)
            controls.acknowledge(self._attempt, event, at=line.t + shift)
        Event.objects.bulk_create(rows, batch_size=200)
        copies.save()
        fields["last_seq"] = last_seq
        attempt.update(**fields)
        if attempt.filter(status__in=AttemptStatus.TERMINAL).exists():
            # It ended before these lines came: nothing in them can be going on.
            attempts.close_datasets(self._attempt)
        attempts.announce(self._attempt.run)
        self._last_seq = last_seq

    def _follow(self, event: events.Event) -> dict[str, Any]:
        """What the event changes in the attempt itself."""
        match event:
            case events.StageStarted():
                attempts.mark(self._attempt, old={AttemptStatus.STARTING}, new=AttemptStatus.RUNNING)
                return {"versions": self._attempt.versions | event.versions}
            case events.StatusChanged():
                return {"waiting_for": event.text[:300], "paused": event.paused}
            case events.StageFinished() | events.StageInterrupted():
                return {"summary": event.summary}
        return {}
