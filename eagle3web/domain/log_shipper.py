"""Copies log.txt into the database, piece by piece, so that pages need no access to the disk of a GPU host."""

import time

from django.db import transaction

from eagle3web.domain import attempts
from eagle3web.models import Attempt, LogChunk

CHUNK = 256 * 1024
"""Bytes of one row at most."""
PATIENCE_S = 0.4
"""How long an unfinished line waits for its end before it is shipped without it."""


def cut(data: bytes, *, whole_lines: bool) -> int:
    """How many bytes of `data` to ship: up to its last line end, else (when lines need not be whole) up to its last character.

    A character is never split, so that each piece can be read by itself.
    """
    lines = data.rfind(b"\n") + 1
    return lines if lines or whole_lines else len(data) - _unfinished_character(data)


def _unfinished_character(data: bytes) -> int:
    """Bytes at the end that begin a UTF-8 character whose rest is missing; bytes that are no UTF-8 count as finished."""
    for back in range(1, min(3, len(data)) + 1):
        byte = data[-back]
        if byte & 0b1100_0000 == 0b1000_0000:
            continue
        needed = 2 if byte >> 5 == 0b110 else 3 if byte >> 4 == 0b1110 else 4 if byte >> 3 == 0b11110 else 1
        return back if needed > back else 0
    return 0


class LogShipper:
    """Ships on from where the database stands. One at a time for an attempt; a second one would find its place taken."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._folder = attempts.folder_of(attempt)
        self._read_place()
        self._waits_since: float | None = None

    def ship(self, *, ended: bool = False) -> bool:
        """Store the next piece, in one transaction; whether there was one. `ended` ships the last bytes as they are."""
        data = self._next()
        size = cut(data, whole_lines=not (ended or len(data) == CHUNK or self._has_waited(data)))
        if ended and size == 0:
            size = len(data)
        if size == 0:
            return False
        piece = data[:size]
        with transaction.atomic():
            taken = Attempt.objects.filter(pk=self._attempt.pk, log_bytes=self._offset).update(
                log_bytes=self._offset + size, log_lines=self._lines + piece.count(b"\n")
            )
            if taken:
                first_line = self._lines + (1 if self._at_line_start else 2)
                LogChunk.objects.create(attempt=self._attempt, offset=self._offset, first_line=first_line, data=piece)
        self._read_place()
        self._waits_since = None
        return True

    def _read_place(self) -> None:
        found = Attempt.objects.filter(pk=self._attempt.pk).values_list("log_bytes", "log_lines").first()
        self._offset, self._lines = found or (0, 0)
        self._at_line_start = self._offset == 0 or self._byte_before() == b"\n"

    def _byte_before(self) -> bytes:
        try:
            with self._folder.log.open("rb") as file:
                file.seek(self._offset - 1)
                return file.read(1)
        except FileNotFoundError:
            return b""

    def _next(self) -> bytes:
        try:
            with self._folder.log.open("rb") as file:
                file.seek(self._offset)
                return file.read(CHUNK)
        except FileNotFoundError:
            return b""

    def _has_waited(self, data: bytes) -> bool:
        """Whether an unfinished line has waited for its end long enough."""
        if not data:
            return False
        now = time.monotonic()
        self._waits_since = self._waits_since or now
        return now - self._waits_since >= PATIENCE_S
