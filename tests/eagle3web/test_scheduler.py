"""What beat sends when, though clocks jump."""

from datetime import timedelta
from pathlib import Path

from eagle3web.celery import app
from eagle3web.scheduler import Scheduler

TWO_HOURS = timedelta(hours=2)


def made(folder: Path) -> Scheduler:
    return Scheduler(app, schedule_filename=str(folder / "schedule"))


def test_the_settings_name_it() -> None:
    assert app.conf.beat_scheduler == "eagle3web.scheduler:Scheduler"


def test_a_clock_that_is_set_back_delays_nothing(tmp_path: Path) -> None:
    scheduler = made(tmp_path)
    scheduler.tick()
    for entry in scheduler.schedule.values():
        entry.last_run_at = entry.default_now() + TWO_HOURS
    # What the queue of entries says is from before the jump, too.
    scheduler.populate_heap()
    assert scheduler.tick() <= 5
    assert not [entry for entry in scheduler.schedule.values() if entry.last_run_at and entry.last_run_at > entry.default_now()]
    scheduler.close()


def test_a_file_from_the_future_delays_nothing(tmp_path: Path) -> None:
    before = made(tmp_path)
    for entry in before.schedule.values():
        entry.last_run_at = entry.default_now() + TWO_HOURS
    before.close()
    scheduler = made(tmp_path)
    assert scheduler.tick() <= 5
    scheduler.close()


def test_entries_keep_their_times_while_the_clock_goes_on(tmp_path: Path) -> None:
    scheduler = made(tmp_path)
    scheduler.tick()
    before = {name: entry.last_run_at for name, entry in scheduler.schedule.items()}
    scheduler.tick()
    assert {name: entry.last_run_at for name, entry in scheduler.schedule.items()} == before
    scheduler.close()
