from typing import Any

import pytest

from pipeline.benchmark.verdict import verdict


def row(mode: str, speedup: float, low: float, high: float, **changes: Any) -> dict[str, Any]:
    values = {"dataset": "", "mode": mode, "shape": "3/1/4", "concurrency": 1, "tokens_per_s": 100 * speedup}
    values |= {"speedup": speedup, "speedup_low": low, "speedup_high": high, "requests": 24, "identical": 24}
    return values | changes


PLAIN = {
    "dataset": "",
    "mode": "plain",
    "shape": "",
    "concurrency": 1,
    "tokens_per_s": 100.0,
    "speedup": None,
    "requests": 24,
    "identical": None,
}


def told(*rows: dict[str, Any], repetitions: int = 3, exact: bool = True) -> str:
    return verdict([PLAIN, *rows], repetitions=repetitions, exact=exact)


def test_drafter_ahead_of_both_is_worth_its_place() -> None:
    assert told(row("drafter", 1.42, 1.38, 1.45), row("lookup", 1.2, 1.15, 1.22)) == (
        "The drafter decodes 1.42× faster than plain decoding (1.38–1.45 over 3 repetitions); prompt lookup, which needs no "
        "training, reaches 1.20×: it is worth its place."
    )


def test_drafter_behind_prompt_lookup_is_not() -> None:
    assert told(row("drafter", 1.18, 1.1, 1.25), row("lookup", 1.31, 1.3, 1.32)) == (
        "The drafter decodes 1.18× faster than plain decoding (1.10–1.25 over 3 repetitions), but prompt lookup, which needs "
        "no training, reaches 1.31×: it is not worth its place."
    )


def test_drafter_within_the_spread_of_prompt_lookup_is_not_proven() -> None:
    assert told(row("drafter", 1.3, 1.2, 1.4), row("lookup", 1.25, 1.1, 1.28)).endswith(
        ", but prompt lookup, which needs no training, reaches 1.25× (1.10–1.28), and the two spreads overlap: its place is "
        "not proven."
    )


def test_slower_drafter_is_called_slower() -> None:
    assert told(row("drafter", 0.87, 0.85, 0.9), row("lookup", 0.95, 0.9, 1.0)) == (
        "The drafter slows decoding down to 0.87× (0.85–0.90 over 3 repetitions) of plain decoding's speed: it is not worth "
        "its place."
    )


def test_spread_that_holds_1_is_no_speedup() -> None:
    assert told(row("drafter", 1.03, 0.97, 1.08), row("lookup", 1.2, 1.1, 1.3)) == (
        "The drafter decodes at 1.03× (0.97–1.08 over 3 repetitions) of plain decoding's speed, which cannot be told from no "
        "speedup at all: it is not worth its place. Prompt lookup, which needs no training, reaches 1.20×."
    )


def test_single_repetition_has_no_spread() -> None:
    assert told(row("drafter", 1.2, 1.2, 1.2), repetitions=1) == (
        "The drafter decodes 1.20× faster than plain decoding (a single repetition, so its spread is unknown); prompt lookup "
        "was not measured beside it."
    )


def test_fastest_shape_speaks_and_other_loads_are_told() -> None:
    text = told(
        row("drafter", 1.2, 1.1, 1.3),
        row("drafter", 1.5, 1.4, 1.6, shape="5/1/6"),
        row("drafter", 0.8, 0.7, 0.9, shape="5/1/6", concurrency=8),
        row("drafter", 1.1, 1.0, 1.2, shape="3/1/4", concurrency=8),
        row("drafter", 9.0, 9.0, 9.0, dataset="B1"),
        row("lookup", 1.1, 1.0, 1.2),
    )
    assert text.startswith("The drafter decodes 1.50× faster")
    assert text.endswith("it is worth its place. With 8 requests at once: 0.80× (0.70–0.90).")


@pytest.mark.parametrize("exact", [True, False])
def test_changed_tokens_are_told_where_there_may_be_none(exact: bool) -> None:
    text = told(row("drafter", 1.5, 1.4, 1.6, identical=21), row("lookup", 1.1, 1.0, 1.2), exact=exact)
    assert ("3 of 48 greedy answers differ from plain decoding's: drafts must never change one." in text) == exact


def test_sampled_answers_are_not_compared() -> None:
    text = told(row("drafter", 1.5, 1.4, 1.6, identical=None), row("lookup", 1.1, 1.0, 1.2, identical=None))
    assert text.endswith("it is worth its place.")


def test_no_drafter_is_said() -> None:
    assert told(row("lookup", 1.2, 1.1, 1.3)) == "No drafter was measured."
