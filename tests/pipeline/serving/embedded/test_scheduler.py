"""Requests that join and leave a running batch, on a real (tiny) model in a real thread."""

import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
import torch

from pipeline.draft_shape import DraftShape
from pipeline.errors import EngineBusyError
from pipeline.serving.embedded.draft_loading import drafter_source, lookup_source
from pipeline.serving.embedded.draft_source import DraftSource
from pipeline.serving.embedded.job import Job, new_job
from pipeline.serving.embedded.loading import LoadedModel, LoadOptions, load
from pipeline.serving.embedded.requests import SamplingParams
from pipeline.serving.embedded.runner import HiddenStates
from pipeline.serving.embedded.scheduler import Limits, Scheduler
from tests.support.servers import wait_until
from tests.support.tiny_speculation import tiny_drafter_for


@pytest.fixture(scope="module")
def model(llama_folder: Path) -> LoadedModel:
    return load(LoadOptions(model=llama_folder, dtype="float32", device="cpu", threads=1, slots=4, context_length=None))


class Running:
    """A scheduler in its thread, and what it told."""

    def __init__(self, model: LoadedModel, limits: Limits) -> None:
        self.told: list[Job] = []
        self.scheduler = Scheduler(model.runner, limits, self.told.extend)
        self._thread = threading.Thread(target=self.scheduler.run)
        self._thread.start()

    def stop(self) -> None:
        self.scheduler.stop()
        self._thread.join()


@pytest.fixture
def running(model: LoadedModel) -> Iterator[Running]:
    found = Running(model, Limits(max_running=4, max_queued=None, max_total_tokens=model.max_total_tokens))
    yield found
    found.stop()


def job(prompt: Sequence[int], new_tokens: int = 8, **params: object) -> Job:
    sampling = SamplingParams.model_validate({"temperature": 0, "max_new_tokens": new_tokens, "ignore_eos": True, **params})
    return new_job("r", tuple(prompt), sampling, frozenset())


def finish(running: Running, jobs: Sequence[Job]) -> list[list[int]]:
    running.scheduler.submit(jobs)
    wait_until(lambda: all(job.finish_reason for job in jobs), "all have an answer")
    return [job.output_ids for job in jobs]


def test_more_requests_than_slots_all_get_the_answer_they_get_alone(running: Running) -> None:
    shapes = [((n + 3,) * (1 + 7 * n), 3 + 5 * n) for n in range(9)]
    alone = [finish(running, [job(prompt, length)])[0] for prompt, length in shapes]
    together = finish(running, [job(prompt, length) for prompt, length in shapes])
    assert together == alone
    assert [len(answer) for answer in together] == [length for _, length in shapes]


def test_sampled_answers_depend_on_the_seed_alone(running: Running) -> None:
    alone = finish(running, [job((5, 6), 20, temperature=1.0, sampling_seed=1)])[0]
    crowd = [job((n + 3,), 20, temperature=1.0, sampling_seed=n) for n in range(5)]
    same, other = (job((5, 6), 20, temperature=1.0, sampling_seed=seed) for seed in (1, 2))
    assert finish(running, [*crowd, same, other])[-2:-1] == [alone]
    assert other.output_ids != alone


def test_a_stop_token_ends_the_answer_and_is_part_of_it(running: Running) -> None:
    answer = finish(running, [job((5, 6, 7), 10)])[0]
    stopped = job((5, 6, 7), 10, ignore_eos=False, stop_token_ids=(answer[3],))
    assert finish(running, [stopped]) == [answer[:4]]
    assert stopped.finish_reason == {"type": "stop", "matched": answer[3]}
    assert stopped.text_ids == answer[:3]


def test_ignore_eos_ignores_every_stop_token(running: Running) -> None:
    answer = finish(running, [job((5, 6, 7), 10)])[0]
    assert finish(running, [job((5, 6, 7), 10, stop_token_ids=(answer[3],))]) == [answer]


def test_an_aborted_job_keeps_its_part_and_frees_its_slot(running: Running) -> None:
    long = [job((n + 3,), 200) for n in range(6)]
    running.scheduler.submit(long)
    wait_until(lambda: all(job.output_ids for job in long[:4]), "four are decoding")
    for victim in (long[1], long[5]):
        victim.abort_reason = "enough"
    running.scheduler.wake()
    wait_until(lambda: all(job.finish_reason for job in long), "all have ended")
    assert [job.finish_reason["type"] for job in long if job.finish_reason] == ["length", "abort"] + ["length"] * 3 + ["abort"]
    assert (len(long[5].output_ids), 0 < len(long[1].output_ids) < 200) == (0, True)
    assert (running.scheduler.running, running.scheduler.waiting) == (0, 0)


def test_a_full_queue_refuses_all_prompts_of_a_request(model: LoadedModel) -> None:
    running = Running(model, Limits(max_running=1, max_queued=2, max_total_tokens=model.max_total_tokens))
    try:
        first = [job((n + 3,), 100) for n in range(3)]
        running.scheduler.submit(first)
        with pytest.raises(EngineBusyError, match=r"The request queue is full\."):
            running.scheduler.submit([job((9,))])
        wait_until(lambda: all(job.finish_reason for job in first), "the queue is empty")
        assert len(finish(running, [job((9,))])[0]) == 8
    finally:
        running.stop()


def test_jobs_wait_until_the_cache_can_hold_them(model: LoadedModel) -> None:
    running = Running(model, Limits(max_running=4, max_queued=None, max_total_tokens=100))
    try:
        large, second = job((3,) * 40, 40), job((4,) * 20, 20)
        finish(running, [large, second])
        assert large.finished is not None
        assert second.started is not None
        assert second.started >= large.finished
    finally:
        running.stop()


def test_progress_tells_every_token_in_order(running: Running) -> None:
    finish(running, [job((5,), 6)])
    wait_until(lambda: len(running.told) >= 6, "all is told")
    assert running.scheduler.steps == 6


def test_an_observer_gets_the_states_of_every_token_that_was_read(model: LoadedModel) -> None:
    parts: dict[Job, list[tuple[int, HiddenStates]]] = {}
    model.runner.watch((1,))
    limits = Limits(max_running=4, max_queued=None, max_total_tokens=model.max_total_tokens)

    def observe(job: Job, start: int, states: HiddenStates) -> None:
        parts.setdefault(job, []).append((start, states))

    scheduler = Scheduler(model.runner, limits, lambda _: None, observer=observe)
    jobs = [job((n + 3,) * (1 + 40 * n), 3 + n) for n in range(6)]
    scheduler.submit(jobs)
    while scheduler.running or scheduler.waiting:
        scheduler.turn()
    for found in jobs:
        starts = [start for start, _ in parts[found]]
        states = HiddenStates.cat([part for _, part in parts[found]])
        ids = [*found.input_ids, *found.output_ids][:-1]
        model.runner.extend(0, ids)
        model.runner.clear(0)
        expected = model.runner.states
        assert expected is not None
        assert starts == [0, *range(len(found.input_ids), len(ids))]
        assert torch.allclose(states.features, expected.features, atol=1e-4)
        assert torch.allclose(states.last, expected.last, atol=1e-4)
    model.runner.watch(())


@pytest.mark.slow
def test_equal_seeds_give_equal_answers_with_and_without_drafts(deep_folder: Path) -> None:
    deep = load(LoadOptions(model=deep_folder, dtype="float32", device="cpu", threads=1, slots=4, context_length=None))
    shapes = [DraftShape(), DraftShape(steps=3, topk=3, draft_tokens=8)]
    sources: list[DraftSource | None] = [None, lookup_source(deep.runner, DraftShape())]
    sources += [drafter_source(tiny_drafter_for(deep_folder), deep.runner, shape) for shape in shapes]
    limits = Limits(max_running=4, max_queued=None, max_total_tokens=deep.max_total_tokens)
    answers = []
    for source in sources:
        scheduler = Scheduler(deep.runner, limits, lambda _: None, source=source)
        # Among greedy ones, a few with a low temperature, so that some guesses are right.
        jobs = [job((5, 6, 7, n), 30, temperature=0.2 * (n % 3), sampling_seed=n) for n in range(3, 12)]
        scheduler.submit(jobs)
        while scheduler.running or scheduler.waiting:
            scheduler.turn()
        answers.append([found.output_ids for found in jobs])
        assert source is None or sum(found.drafts.correct for found in jobs) > 0
    assert answers[1:] == answers[:1] * 3
