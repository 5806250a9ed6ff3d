"""A benchmark's result in plain words: is the drafter worth its place? Pure."""

from collections.abc import Sequence

from pipeline.benchmark_rows import ALL, Row, headline

NOT_WORTH_IT = "it is not worth its place"
UNTRAINED = "prompt lookup, which needs no training,"


def verdict(rows: Sequence[Row], *, repetitions: int, exact: bool) -> str:
    """One to three sentences about the drafter over all datasets, at the lowest concurrency and in its fastest shape.

    `exact`: greedy decoding in float32, where drafts must not change a single token.
    """
    drafter, lookup = headline(rows, "drafter"), headline(rows, "lookup")
    if drafter is None:
        return "No drafter was measured."
    if drafter["speedup_high"] < 1:
        found = f"The drafter slows decoding down to {_measured(drafter, repetitions)} of plain decoding's speed"
        sentences = [f"{found}: {NOT_WORTH_IT}.", *_lookup_alone(lookup)]
    elif drafter["speedup_low"] <= 1:
        found = f"The drafter decodes at {_measured(drafter, repetitions)} of plain decoding's speed"
        sentences = [f"{found}, which cannot be told from no speedup at all: {NOT_WORTH_IT}.", *_lookup_alone(lookup)]
    else:
        found = f"The drafter decodes {_times(drafter)} faster than plain decoding {_spread(drafter, repetitions)}"
        sentences = [found + _beside_lookup(drafter, lookup)]
    return " ".join([*sentences, *_other_loads(rows, drafter), *(_changed_tokens(rows) if exact else ())])


def _beside_lookup(drafter: Row, lookup: Row | None) -> str:
    """How a sentence about a real speedup ends."""
    if lookup is None:
        return "; prompt lookup was not measured beside it."
    reached = f"{UNTRAINED} reaches {_times(lookup)}"
    if lookup["speedup"] >= drafter["speedup"]:
        return f", but {reached}: {NOT_WORTH_IT}."
    if lookup["speedup_high"] >= drafter["speedup_low"]:
        return f", but {reached} ({_range(lookup)}), and the two spreads overlap: its place is not proven."
    return f"; {reached}: it is worth its place."


def _lookup_alone(lookup: Row | None) -> list[str]:
    if lookup is None or lookup["speedup_low"] <= 1:
        return []
    return [f"{UNTRAINED.capitalize()} reaches {_times(lookup)}."]


def _other_loads(rows: Sequence[Row], drafter: Row) -> list[str]:
    """The same shape with more requests at once, where a target has less time to spare for drafts."""
    same = [row for row in rows if (row["mode"], row["shape"], row["dataset"]) == ("drafter", drafter["shape"], ALL)]
    others = sorted((row for row in same if row is not drafter), key=lambda row: int(row["concurrency"]))
    return [f"With {row['concurrency']} requests at once: {_times(row)} ({_range(row)})." for row in others]


def _changed_tokens(rows: Sequence[Row]) -> list[str]:
    drafted = [row for row in rows if row["mode"] != "plain" and row["dataset"] == ALL and row["identical"] is not None]
    requests, identical = sum(row["requests"] for row in drafted), sum(row["identical"] for row in drafted)
    if identical == requests:
        return []
    return [f"{requests - identical} of {requests} greedy answers differ from plain decoding's: drafts must never change one."]


def _measured(row: Row, repetitions: int) -> str:
    return f"{_times(row)} {_spread(row, repetitions)}"


def _times(row: Row) -> str:
    return f"{row['speedup']:.2f}×"


def _spread(row: Row, repetitions: int) -> str:
    if repetitions == 1:
        return "(a single repetition, so its spread is unknown)"
    return f"({_range(row)} over {repetitions} repetitions)"


def _range(row: Row) -> str:
    return f"{row['speedup_low']:.2f}–{row['speedup_high']:.2f}"
