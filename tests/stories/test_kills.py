"""kill -9 of anything at random moments: no answer that was told of is lost or doubled, nothing dead is shown as running."""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle3web.enums import RunStatus
from eagle3web.models import Run
from pipeline.events import GenerationProgress, read_events
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, kill, world

pytestmark = [pytest.mark.slow]
TARGETS = ("stage", "supervisor", "worker", "web", "valkey", "engine")
BUDGET = 6000
KILLS = 5


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.3, mean_tokens=40, vocab_size=300)) as found:
        for slug in ("B1", "B2", "B3"):
            found.add(slug, prompts=600, tokens=BUDGET)
        yield found


@pytest.mark.parametrize("seed", [1, 2])
def test_kills_at_random_moments_lose_and_double_nothing(here: World, seed: int) -> None:
    """Kill things, start them again, resume what ended, and let the run finish; then count. More in `make test-faults`."""
    draw = random.Random(seed)
    run = here.start_run(concurrency=8, order=draw.choice(["sequential", "interleaved"]))
    history = []
    for target in draw.choices(TARGETS, k=KILLS):
        # From the very start on: an attempt that is only being launched is as good a moment as any.
        moment = draw.uniform(0.0, 3.0)
        time.sleep(moment)
        history.append(f"{target} after {moment:.2f} s")
        strike(here, run, target)
        mend(here, run, target)
    try:
        finish(here, run)
        here.wait_until_still()
        check_answers(here, run)
        here.check_truth(run)
    except AssertionError as error:
        raise AssertionError(f"{error}\nkilled: {', '.join(history)}\n{here.describe(run)}") from error


def strike(here: World, run: Run, target: str) -> None:
    """kill -9, if it is there."""
    attempt = run.attempts.order_by("number").last()
    if target == "engine":
        here.kill_engine()
    elif target in {"stage", "supervisor"}:
        pid = attempt and (attempt.pid if target == "stage" else attempt.supervisor_pid)
        if pid in here.of_attempts():
            kill(pid)
    else:
        here.system.kill(target)


def mend(here: World, run: Run, target: str) -> None:
    """Start again what people would start again; the run only when it has ended."""
    if target == "engine":
        here.start_engine()
    elif target in {"worker", "web", "valkey"}:
        here.system.start(target)
    run.refresh_from_db()
    if run.status in RunStatus.RESUMABLE:
        here.resume(run)


def finish(here: World, run: Run) -> None:
    """Resume until it is finished."""
    for _ in range(10):
        here.wait_status(run, "finished", *RunStatus.RESUMABLE, timeout_s=120)
        if run.status == RunStatus.FINISHED:
            return
        here.resume(run)
    raise AssertionError("it did not finish in ten attempts")


def check_answers(here: World, run: Run) -> None:
    """Whatever an attempt ever told of is on disk, once; the budgets are met; the page says what the files say."""
    found = here.recount()
    assert {slug: count.duplicates for slug, count in found.items()} == {"B1": 0, "B2": 0, "B3": 0}
    told: dict[str, int] = {}
    for attempt in run.attempts.all():
        for line, _ in read_events(Path(attempt.folder) / "events.jsonl"):
            if isinstance(line.event, GenerationProgress):
                told[line.event.dataset] = max(told.get(line.event.dataset, 0), line.event.done)
    assert all(found[slug].answers >= done for slug, done in told.items())
    last = run.attempts.order_by("number").last()
    assert last is not None
    rows = {row.dataset: (row.done, row.tokens) for row in last.datasets.all()}
    assert rows == {slug: (count.answers, count.tokens) for slug, count in found.items()}
    assert all(count.tokens >= BUDGET for count in found.values())
    page = here.call("GET", f"/attempts/{last.pk}/datasets")["items"]
    assert {row["dataset"]: row["tokens"] for row in page} == {slug: count.tokens for slug, count in found.items()}
