"""A pipeline of real processes goes on by itself, says what it waits for, and survives the worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from eagle3web.domain import lineage
from eagle3web.models import BenchmarkRow, Run
from tests.support.project_target import save_target
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, kill, world

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

TRAIN = {
    "max_minutes": 0.05,
    "draft_vocab_size": 64,
    "tokens_per_batch": 512,
    "objective": {"steps": 2},
    "precision": "float32",
}
BENCHMARK = {"prompts_per_dataset": 1, "repetitions": 1, "warmup_prompts": 0, "sampling": {"max_new_tokens": 8}}


@pytest.fixture
def here(system: System, tmp_path: Path) -> Iterator[World]:
    with world(system, tmp_path, Behaviour(latency_s=0.05, mean_tokens=20, vocab_size=300)) as found:
        found.add("B1", prompts=200, tokens=2500)
        save_target(found.project)
        yield found


def start_chain(here: World) -> list[Run]:
    body = {"project": here.project.slug, "engines": ["stub"], "concurrency": 4, "preset": "cpu"}
    made = here.call("POST", "/pipelines", body | {"train": TRAIN, "benchmark": BENCHMARK})["runs"]
    return [Run.objects.get(pk=run["id"]) for run in made]


def test_chain_goes_on_to_its_end_though_the_worker_is_killed_between_two_stages(here: World) -> None:
    generate, extract, train, benchmark = start_chain(here)
    here.wait_answers(generate, 4)
    here.system.kill("worker")
    here.wait_status(generate, "finished")
    assert [lineage.held_words(run) for run in (extract, train)] == ["", f"waits for r{extract.pk} extract"]
    here.system.start("worker")
    for run in (extract, train, benchmark):
        here.wait_status(run, "finished", timeout_s=240)
        assert run.attempts.count() == 1
    assert BenchmarkRow.objects.filter(attempt__run=benchmark, dataset="", mode="drafter").exists()
    here.wait_until_still()


def test_chain_holds_at_a_run_that_failed_and_goes_on_once_that_is_resumed(here: World) -> None:
    generate, extract, train, benchmark = start_chain(here)
    here.wait_answers(generate, 4)
    kill(here.attempt(generate, 1).pid)
    here.wait_status(generate, "failed")
    words = f"waits for r{generate.pk} generate, which failed: resume that one, and this one follows; or stop this one"
    assert lineage.held_words(extract) == words
    told = here.call("GET", f"/runs/{extract.pk}")["shown"]
    assert (told["state"], told["words"]) == ("queued", words)
    here.call("POST", f"/runs/{train.pk}/stop")
    here.resume(generate)
    here.wait_status(extract, "finished", timeout_s=240)
    assert [generate.attempts.count(), extract.attempts.count()] == [2, 1]
    assert lineage.held_words(benchmark).startswith(f"waits for r{train.pk} train, which was stopped")


def test_chain_starts_the_next_stage_without_waiting_for_beat(here: World) -> None:
    here.system.stop("beat")
    generate, extract, train, _benchmark = start_chain(here)
    here.call("POST", f"/runs/{train.pk}/stop")
    here.wait_status(generate, "finished")
    wait_until(lambda: extract.attempts.exists(), "the extraction has an attempt", 10.0)
    here.wait_status(extract, "finished", timeout_s=240)
