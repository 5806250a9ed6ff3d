"""Database work that may have to wait: a database that is away or locked is an outage, and never the end of who waits."""

import logging
import time
from collections.abc import Callable

from django.db import InterfaceError, OperationalError, connection

RETRY_S = 0.5
log = logging.getLogger(__name__)


class Patient:
    """Does work in the database and says whether it was done. After a failure it waits RETRY_S before the next try."""

    def __init__(self) -> None:
        self._since: float | None = None
        self._next_try = 0.0

    def is_ready(self) -> bool:
        return time.monotonic() >= self._next_try

    def start_over(self, seconds: float) -> None:
        """Drop the connection, which may be dead, and do not be ready before that."""
        connection.close()
        self._next_try = time.monotonic() + seconds

    def does(self, work: Callable[[], object]) -> bool:
        """Call `work`; False when the database could not be reached or written. Other errors pass through."""
        try:
            work()
        except (OperationalError, InterfaceError) as error:
            now = time.monotonic()
            if self._since is None:
                self._since = now
                log.warning("the database is away (%s); trying again until it is back", str(error).strip())
            self.start_over(RETRY_S)
            return False
        if self._since is not None:
            log.info("the database is back after %.1f s", time.monotonic() - self._since)
            self._since = None
        return True

    def until_done(self, work: Callable[[], object], *, give_up: Callable[[], bool] = lambda: False) -> bool:
        """Try until it is done, or until `give_up`; whether it was done."""
        while not self.does(work):
            if give_up():
                return False
            time.sleep(RETRY_S)
        return True
