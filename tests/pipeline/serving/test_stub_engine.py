"""The stub that other tests lean on: its answers are the same everywhere, and its lengths are as asked for."""

import statistics

from tests.support.servers import stub_process
from tests.support.stub_engine import Behaviour, answer_for


def lengths(behaviour: Behaviour, count: int = 2000) -> list[int]:
    return [len(answer_for((n, 7), max_new_tokens=100_000, behaviour=behaviour).ids) for n in range(count)]


def test_an_answer_depends_on_prompt_seed_and_limit_alone() -> None:
    assert answer_for((1, 2), seed=3) == answer_for([1, 2], seed=3)
    assert answer_for((1, 2), seed=3) != answer_for((1, 2), seed=4)
    assert answer_for((1, 2), seed=3).ids[:5] == answer_for((1, 2), seed=3, max_new_tokens=5).ids


def test_lengths_have_the_mean_and_the_tail_that_were_asked_for() -> None:
    even, tailed = lengths(Behaviour(mean_tokens=50, sigma=0)), lengths(Behaviour(mean_tokens=50, sigma=1))
    assert set(even) == {50}
    assert 45 < statistics.fmean(tailed) < 55
    assert max(tailed) > 400


def test_the_last_token_tells_how_an_answer_ended() -> None:
    stopped, cut = (answer_for((1,), max_new_tokens=n, behaviour=Behaviour(sigma=0)) for n in (64, 63))
    assert (stopped.finish_reason, stopped.ids[-1], len(stopped.ids)) == ("stop", 2, 64)
    assert (cut.finish_reason, len(cut.ids)) == ("length", 63)


def test_a_stub_process_starts_with_flags_and_says_where() -> None:
    with stub_process(Behaviour(hang=True, latency_s=0.5)) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        assert process.poll() is None
