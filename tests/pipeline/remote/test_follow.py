"""Following a run to its end, against a real server."""

import json
import threading
from collections.abc import Callable

import pytest
from django.db import connection

from eagle3web.models import Attempt, Run
from pipeline.remote import follow as following
from tests.pipeline.remote.conftest import Remote
from tests.support import factories


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "POLL_S", 0.05)


def ended(attempt: Attempt, status: str, **fields: object) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(status=status, **fields)
    Run.objects.filter(pk=attempt.run_id).update(status=status)


@pytest.mark.parametrize(
    ("status", "fields", "code"),
    [
        ("finished", {"exit_code": 0}, 0),
        ("stopped", {"exit_code": 3}, 3),
        ("failed", {"exit_code": 7}, 7),
        ("failed", {"signal": 9}, 137),
        ("lost", {}, 1),
    ],
)
def test_follow_ends_with_the_runs_exit_code(remote: Remote, status: str, fields: dict[str, object], code: int) -> None:
    attempt = factories.attempt()
    factories.log(attempt, "first\nlast\nunfinished")
    ended(attempt, status, reason="why", **fields)
    found, out, err = remote("follow", attempt.run_id)
    assert (found, out) == (code, "first\nlast\n")
    assert err == f"r{attempt.run_id} generate why\n"


def test_follow_writes_lines_as_they_come(remote: Remote, looked: threading.Event) -> None:
    attempt = factories.attempt()
    factories.log(attempt, "".join(f"line {n}\n" for n in range(1, 101)))

    def go_on() -> None:
        factories.log(attempt, "one more\n")
        ended(attempt, "finished")
        connection.close()

    code, out, err = while_following(looked, go_on, lambda: remote("follow", attempt.run_id))
    assert code == 0
    assert out.splitlines() == [*(f"line {n}" for n in range(61, 101)), "one more"]
    assert [line.split()[2] for line in err.splitlines()] == ["running", "finished"]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set once the follower has looked."""
    event = threading.Event()

    class Watched(following.Follower):
        def look(self) -> int | None:
            code = super().look()
            event.set()
            return code

    monkeypatch.setattr(following, "Follower", Watched)
    return event


def while_following(
    looked: threading.Event, act: Callable[[], None], follow: Callable[[], tuple[int, str, str]]
) -> tuple[int, str, str]:
    """Act in another thread once the following has begun."""

    def act_then() -> None:
        assert looked.wait(60)
        act()

    thread = threading.Thread(target=act_then)
    thread.start()
    try:
        return follow()
    finally:
        thread.join()


def test_follow_goes_over_to_the_next_attempt(remote: Remote, looked: threading.Event) -> None:
    first = factories.attempt()
    factories.log(first, "of the first\n")

    def resume() -> None:
        ended(first, "stopped")
        second = factories.attempt(first.run, status="finished")
        factories.log(second, "of the second\n")
        connection.close()

    Run.objects.filter(pk=first.run_id).update(status="running")
    code, out, _ = while_following(looked, resume, lambda: remote("follow", first.run_id))
    assert code in (0, 3)  # whoever looks between the two attempts sees a stopped run, which has ended
    assert out.startswith("of the first\n")


def test_follow_from_the_start_writes_all_attempts(remote: Remote) -> None:
    run = factories.attempt(status="stopped").run
    factories.log(run.attempts.get(), "one\n")
    factories.log(factories.attempt(run, status="finished"), "two\n")
    assert remote("follow", run.pk)[1] == "two\n"
    assert remote("follow", run.pk, "--from-start")[1] == "one\ntwo\n"


def test_follow_writes_events_for_programs(remote: Remote) -> None:
    attempt = factories.attempt(status="finished")
    factories.event(attempt, "warning", text="slow")
    _, out, _ = remote("follow", attempt.run_id, "--json")
    (event,) = map(json.loads, out.splitlines())
    assert (event["kind"], event["payload"], event["attempt"]) == ("warning", {"text": "slow"}, attempt.pk)


def test_follow_asks_again_while_nobody_answers(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "PATIENCE_S", 0.2)
    code, _, err = remote("--url", "http://127.0.0.1:9", "follow", 1)
    assert code == 5
    assert err.count("asking again") == 1
