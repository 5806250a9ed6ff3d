"""Beat's scheduler, made to survive a wall clock that is set back.

Celery remembers of each entry when it was last sent, by the wall clock. Set back by two hours, or started with a file from
before, beat would find that everything was sent in the future and send nothing until that moment comes: for two hours nobody
would look whether runs are alive.
"""

import logging
from datetime import timedelta
from typing import Any

from celery.beat import PersistentScheduler, ScheduleEntry

SLACK = timedelta(seconds=2)
"""Between two readings of one clock; less than this ahead is no jump."""
log = logging.getLogger(__name__)


class Scheduler(PersistentScheduler):
    def tick(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (Celery's signature)
        """Send what is due; seconds until the next look. Entries from the future are due anew."""
        if ahead := [entry for entry in self.schedule.values() if _is_ahead(entry)]:
            log.warning("the clock was set back: %d entries begin anew", len(ahead))
            for entry in ahead:
                entry.last_run_at = entry.default_now()
            # Ordered by the times from before.
            self._heap = None
        return super().tick(*args, **kwargs)


def _is_ahead(entry: ScheduleEntry) -> bool:
    return entry.last_run_at is not None and entry.last_run_at > entry.default_now() + SLACK
