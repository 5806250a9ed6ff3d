"""The life of a request, and what is told about it."""

from pipeline.serving.embedded.job import Job, new_job
from pipeline.serving.embedded.requests import SamplingParams

EOS = frozenset([2])


def job(**params: object) -> Job:
    return new_job("r", (5, 6), SamplingParams.model_validate({"max_new_tokens": 3, **params}), EOS)


def test_the_models_end_token_ends_it() -> None:
    found = job()
    found.take(7, 1.0)
    found.take(2, 2.0)
    assert (found.finish_reason, found.output_ids, found.text_ids) == ({"type": "stop", "matched": 2}, [7, 2], [7])


def test_the_last_allowed_token_ends_it() -> None:
    found = job()
    for token in (7, 8, 9):
        found.take(token, 1.0)
    assert (found.finish_reason, found.text_ids) == ({"type": "length", "length": 3}, [7, 8, 9])


def test_an_end_token_in_the_last_place_is_a_stop() -> None:
    found = job(max_new_tokens=1)
    found.take(2, 1.0)
    assert found.finish_reason == {"type": "stop", "matched": 2}


def test_stop_tokens_add_to_the_models_own_and_ignore_eos_drops_both() -> None:
    assert job(stop_token_ids=(9,)).stop_ids == {2, 9}
    assert job(stop_token_ids=(9,), ignore_eos=True).stop_ids == frozenset()


def test_greedy_needs_no_random_numbers() -> None:
    assert job(temperature=0).generator is None
    assert job(top_k=1).generator is None
    assert job(temperature=0.5).generator is not None


def test_meta_info_measures_from_submission() -> None:
    found = job()
    found.submitted, found.started = 10.0, 11.0
    for token, now in ((7, 12.0), (8, 13.0), (9, 14.0)):
        found.take(token, now)
    meta = found.meta_info()
    assert (meta["queue_time"], meta["first_token_latency"], meta["e2e_latency"], meta["decode_throughput"]) == (
        1.0,
        2.0,
        4.0,
        1.0,
    )
    assert (meta["prompt_tokens"], meta["completion_tokens"], meta["cached_tokens"]) == (2, 3, 0)
