from typing import Any

import pytest

from pipeline.benchmark.measured import Pass, Request
from pipeline.benchmark.results import demo_benchmark, first_token_s, inter_token_s, summarise, whole_repetitions


def request(key: str = "a", tokens: int = 10, **changes: Any) -> Request:
    values: dict[str, Any] = {
        "key": key,
        "prompt_tokens": 5,
        "completion_tokens": tokens,
        "finish_reason": "stop",
        "latency_s": 1.0,
        "first_token_s": 0.1,
        "verify_ct": 0,
        "correct_drafts": (),
        "output_ids": tuple(range(tokens)),
    }
    return Request(**values | changes)


def one(mode: str = "plain", seconds: float = 1.0, *requests: Request, **changes: Any) -> Pass:
    values: dict[str, Any] = {"dataset": "B1", "concurrency": 1, "repetition": 1, "mode": mode, "seconds": seconds}
    values |= {"shape": "" if mode == "plain" else "3/1/4", "requests": requests or (request(),)}
    return Pass(**values | changes)


def drafted(seconds: float, *requests: Request, **changes: Any) -> Pass:
    return one("drafter", seconds, *(requests or (request(verify_ct=5, correct_drafts=(2, 1, 2)),)), **changes)


def rows(*passes: Pass, greedy: bool = True) -> dict[tuple[str, str], Any]:
    return {(row.dataset, row.mode): row for row in summarise(passes, greedy=greedy)}


def test_speedup_is_the_median_of_ratios_within_repetitions() -> None:
    # The machine was twice as slow in the second repetition, for both.
    found = rows(
        *(one(seconds=s, repetition=r) for r, s in ((1, 1.0), (2, 2.0), (3, 1.0))),
        *(drafted(s, repetition=r) for r, s in ((1, 0.5), (2, 1.6), (3, 0.8))),
    )
    row = found["B1", "drafter"]
    assert (row.speedup, row.speedup_low, row.speedup_high) == (1.25, 1.25, 2.0)
    assert (row.tokens_per_s, row.tokens_per_s_low, row.tokens_per_s_high) == (12.5, 6.25, 20.0)
    assert found["B1", "plain"].speedup is None


def test_accept_length_is_pooled_over_requests() -> None:
    counted = (
        request(tokens=100, verify_ct=20, correct_drafts=(2, 8, 10)),
        request("b", tokens=2, verify_ct=2, correct_drafts=(2,)),
    )
    row = rows(one(), drafted(1.0, *counted))["B1", "drafter"]
    assert row.accept_length == 102 / 22
    assert row.acceptance == (18 / 22, 10 / 18)
    assert rows(one())["B1", "plain"].accept_length is None


def test_all_datasets_are_one_pool_of_tokens_and_seconds() -> None:
    found = rows(
        one(seconds=1.0),
        drafted(0.5),
        one("plain", 3.0, request(tokens=90), dataset="B2"),
        drafted(1.5, request(tokens=90, verify_ct=30), dataset="B2"),
    )
    assert found["", "plain"].tokens_per_s == 25.0
    assert found["", "drafter"].speedup == 2.0
    assert (found["", "drafter"].requests, found["", "drafter"].tokens) == (2, 100)


def test_repetition_that_a_stop_cut_short_does_not_count_for_all_datasets() -> None:
    found = rows(
        one(),
        drafted(0.5),
        one(dataset="B2"),
        drafted(0.5, dataset="B2"),
        one(repetition=2),
        drafted(0.1, repetition=2),
    )
    assert found["", "drafter"].speedup == 2.0
    assert found["B1", "drafter"].requests == 2
    assert whole_repetitions([one(), one(dataset="B2"), one(repetition=2)]) == {1}
    assert whole_repetitions([one(), one(repetition=2)]) == {1, 2}


def test_identical_answers_are_counted_by_prompt_and_repetition() -> None:
    same, other = request("a", verify_ct=3), request("b", verify_ct=3, output_ids=(9,))
    passes = (one("plain", 1.0, request("a"), request("b")), drafted(1.0, same, other))
    assert rows(*passes)["B1", "drafter"].identical == 1
    assert rows(*passes, greedy=False)["B1", "drafter"].identical is None
    assert rows(*passes)["B1", "plain"].identical is None


def test_rows_of_all_datasets_come_first_and_plain_before_the_others() -> None:
    passes = [one("lookup", 1.0, request(verify_ct=2)), drafted(1.0), one()]
    passes += [one("lookup", 1.0, request(verify_ct=2), concurrency=4), drafted(1.0, concurrency=4), one(concurrency=4)]
    order = [(row.dataset, row.concurrency, row.mode) for row in summarise(passes, greedy=True)]
    modes = ("plain", "lookup", "drafter")
    assert order == [(dataset, n, mode) for dataset in ("", "B1") for n in (1, 4) for mode in modes]


def test_latencies_are_means_of_requests_and_of_tokens() -> None:
    timed = [request(tokens=11, latency_s=1.1, first_token_s=0.1), request(tokens=2, latency_s=0.4, first_token_s=0.3)]
    assert first_token_s(timed) == pytest.approx(0.2)
    assert inter_token_s(timed) == pytest.approx(1.1 / 11)
    assert first_token_s([request(first_token_s=None)]) is None
    assert inter_token_s([request(tokens=1)]) is None


def summary(*passes: Pass) -> dict[str, Any]:
    return {"rows": [vars(row) for row in summarise(passes, greedy=True)]}


def test_demo_benchmark_has_the_three_rows_by_dataset() -> None:
    lookup = one("lookup", 0.8, request(verify_ct=8))
    found = demo_benchmark(summary(one(), lookup, drafted(0.5), one(repetition=2), lookup_again(), drafted(0.4, repetition=2)))
    numbers = {key: value for key, value in found.items() if key != "by_dataset"}
    assert numbers == {
        "accept_length": 2.0,
        "speedup": 2.25,
        "spread": [2.0, 2.5],
        "baseline_tok_s": 10.0,
        "draft_tok_s": 22.5,
        "lookup_accept_length": 1.25,
        "lookup_speedup": 1.25,
    }
    assert found["by_dataset"] == {"B1": numbers}


def lookup_again() -> Pass:
    return one("lookup", 0.8, request(verify_ct=8), repetition=2)


def test_demo_benchmark_without_a_drafter_says_so() -> None:
    found = demo_benchmark(summary(one()))
    assert (found["speedup"], found["spread"], found["lookup_speedup"], found["baseline_tok_s"]) == (None, None, None, 10.0)
