from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import Attempt, Lease, Run
from eagle3web.pages.rights import Rights
from eagle3web.pages.run import RunPage
from tests.support import factories
from tests.support.pipelines import chain_of, ready_project

pytestmark = pytest.mark.django_db
OPERATOR: Rights = frozenset({"view_run", "change_run", "add_run"})


def page(attempt: Attempt) -> RunPage:
    return RunPage(attempt.run_id, attempt.number, OPERATOR)


def test_two_looks_while_nothing_happens_are_the_same() -> None:
    attempt = factories.attempt()
    factories.progress(attempt)
    looking = page(attempt)
    assert looking.read(timezone.now()).fragments == looking.read(timezone.now()).fragments


def test_burn_down_is_read_anew_every_few_seconds_or_when_the_state_changes() -> None:
    attempt = factories.attempt()
    looking = page(attempt)
    now = timezone.now()
    first = looking.context(now)["burn_down"]
    assert looking.context(now + timedelta(seconds=1))["burn_down"] is first
    assert looking.context(now + timedelta(seconds=11))["burn_down"] is not first
    newest = looking.context(now + timedelta(seconds=12))["burn_down"]
    Attempt.objects.filter(pk=attempt.pk).update(status="finished", ended_at=now)
    assert looking.context(now + timedelta(seconds=13))["burn_down"] is not newest


def test_title_starts_with_the_state() -> None:
    attempt = factories.attempt(tick_at=timezone.now() - timedelta(seconds=9))
    assert page(attempt).read(timezone.now()).title == f"silent · r{attempt.run_id} generate"


def test_read_gives_each_line_and_point_once() -> None:
    attempt = factories.attempt()
    factories.log(attempt, "one\n")
    looking = page(attempt)
    first = looking.read(timezone.now()).streams
    assert [entry[0] for entry in first["log"].entries] == [1]
    factories.log(attempt, "two\n")
    point = factories.point(attempt, "tokens", 5.0, series="B1")
    second = looking.read(timezone.now()).streams
    assert (second["log"].after, [entry[0] for entry in second["log"].entries]) == (1, [2])
    assert [entry[0] for entry in second["points"].entries] == [point.pk]
    third = looking.read(timezone.now()).streams
    assert [len(batch.entries) for batch in third.values()] == [0, 0]


def test_missed_fills_a_gap_and_says_what_it_leaves_out() -> None:
    attempt = factories.attempt()
    factories.log(attempt, "".join(f"{n}\n" for n in range(1, 3001)))
    lines, skipped = page(attempt).missed("log", 500, 2600)
    assert ([lines[0][0], lines[-1][0]], skipped) == ([601, 2600], 100)


def test_trouble_says_what_happened_what_is_kept_and_what_to_do() -> None:
    attempt = factories.attempt(status="failed", reason="killed by signal 9")
    factories.progress(attempt, done=1728, tokens=4_200_000)
    html = page(attempt).read(timezone.now()).fragments["run-trouble"]
    assert "Failed: killed by signal 9" in html
    assert "Kept: 1 728 answers, 4.20 M tokens, all events and the log." in html
    assert "Resume goes on from there" in html


@pytest.mark.parametrize(
    ("status", "shown", "hidden"),
    [
        ("running", ("Stop…", "Pause…", "Concurrency…"), ("Resume…", "Go on…")),
        ("failed", ("Resume…", "Clone…"), ("Stop…", "Pause…")),
        ("finished", ("Clone…",), ("Stop…", "Resume…", "Pause…")),
    ],
)
def test_buttons_fit_the_state(status: str, shown: tuple[str, ...], hidden: tuple[str, ...]) -> None:
    html = page(factories.attempt(status=status)).read(timezone.now()).fragments["run-head"]
    assert [word for word in shown if word not in html] == []
    assert [word for word in hidden if word in html] == []


def test_paused_run_offers_to_go_on() -> None:
    attempt = factories.attempt(paused=True)
    Run.objects.update(paused=True)
    html = page(attempt).read(timezone.now()).fragments["run-head"]
    assert "Go on…" in html
    assert "paused" in html


def test_version_that_is_asked_for_stands_beside_the_one_in_use() -> None:
    attempt = factories.attempt()
    factories.budget(attempt.run.project, factories.dataset(slug="B1"), version=3)
    factories.progress(attempt, dataset="B1", budget_version=2)
    assert "<b>3</b> / 2" in page(attempt).read(timezone.now()).fragments["run-datasets"]


def test_details_compare_with_the_attempt_before() -> None:
    run = factories.run()
    factories.attempt(run, status="failed", config={"concurrency": 96})
    second = factories.attempt(run, config={"concurrency": 128})
    found = page(second).details(second)
    assert [(difference.old, difference.new) for difference in found["differences"]] == [("96", "128")]


def test_missing_run_raises() -> None:
    with pytest.raises(Run.DoesNotExist):
        RunPage(999_999, 1, OPERATOR)


def test_queued_run_of_a_chain_names_the_run_before_and_shows_the_chain() -> None:
    generate, extract, *_ = chain_of(ready_project())
    found = RunPage(extract.pk, 0, OPERATOR).read(timezone.now()).fragments
    assert f"Waits for r{generate.pk} generate." in found["run-queued"]
    assert f"r{generate.pk} generate, queued" in found["lineage"]


def test_queued_run_says_what_it_waits_for() -> None:
    run = factories.run()
    looking = RunPage(run.pk, 0, OPERATOR)
    assert "No worker was heard of" in looking.read(timezone.now()).fragments["run-queued"]
    factories.host()
    assert "Waits for a worker" in looking.read(timezone.now()).fragments["run-queued"]
    other = factories.attempt(factories.run(run.project))
    Lease.objects.create(host="", device=f"responses/{run.project.slug}", attempt=other)
    assert f"Waits for r{other.run_id} attempt 1" in looking.read(timezone.now()).fragments["run-queued"]


def test_run_that_is_resumed_is_queued_until_its_next_attempt_starts() -> None:
    attempt = factories.attempt(status="failed", reason="killed by signal 9")
    Run.objects.update(status="queued")
    reading = page(attempt).read(timezone.now())
    assert reading.title.startswith("queued")
    assert "Attempt 2 is queued." in reading.fragments["run-trouble"]
