"""From passes to rows: medians over repetitions, each mode beside the plain decoding that ran with it. Pure."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from pipeline.acceptance import served_accept_length, served_conditional, speedup
from pipeline.benchmark.measured import Pass, Request
from pipeline.benchmark_rows import ALL, Row, headline
from pipeline.drafter_events import BenchmarkSummarised

Way = tuple[str, str]
"""Mode and shape."""


def summarise(passes: Sequence[Pass], *, greedy: bool) -> list[BenchmarkSummarised]:
    """A row for each dataset × concurrency × mode × shape, those over all datasets first. Passes come in whole groups.

    Speedups pair the passes of one repetition. Over all datasets a repetition's rate is all its tokens over all its seconds,
    and only repetitions count that reached as many datasets as any other.
    """
    rows = []
    for dataset in (ALL, *sorted({measured.dataset for measured in passes})):
        for concurrency in sorted({measured.concurrency for measured in passes}):
            here = [p for p in passes if p.concurrency == concurrency and dataset in (ALL, p.dataset)]
            ways = _by_way(here if dataset else _even(here))
            rows += [_row(dataset, concurrency, way, ways, greedy=greedy) for way in sorted(ways, key=_order)]
    return rows


def _order(way: Way) -> tuple[int, str]:
    return ("plain", "lookup", "drafter").index(way[0]), way[1]


def whole_repetitions(passes: Iterable[Pass]) -> set[int]:
    """Without those that a stop has cut short, unless there is no other."""
    datasets: dict[int, set[str]] = defaultdict(set)
    for measured in passes:
        datasets[measured.repetition].add(measured.dataset)
    most = max((len(found) for found in datasets.values()), default=0)
    return {repetition for repetition, found in datasets.items() if len(found) == most}


def _even(passes: Sequence[Pass]) -> list[Pass]:
    whole = whole_repetitions(passes)
    return [measured for measured in passes if measured.repetition in whole]


def _by_way(passes: Iterable[Pass]) -> dict[Way, dict[int, list[Pass]]]:
    """Way → repetition → its passes."""
    found: dict[Way, dict[int, list[Pass]]] = defaultdict(lambda: defaultdict(list))
    for measured in sorted(passes, key=lambda measured: measured.repetition):
        found[measured.mode, measured.shape][measured.repetition].append(measured)
    return found


def _row(
    dataset: str, concurrency: int, way: Way, ways: Mapping[Way, Mapping[int, list[Pass]]], *, greedy: bool
) -> BenchmarkSummarised:
    mode, shape = way
    plain = mode == "plain"
    repetitions = list(ways[way].values())
    rates = [_rate(passes) for passes in repetitions]
    against = None if plain else speedup([_rate(passes) for passes in ways["plain", ""].values()], rates)
    requests = [request for passes in repetitions for measured in passes for request in measured.requests]
    served = [request.served for request in requests]
    verified = any(counts.verify_ct for counts in served)
    return BenchmarkSummarised(
        dataset=dataset,
        mode=mode,
        shape=shape,
        concurrency=concurrency,
        requests=len(requests),
        tokens=sum(request.completion_tokens for request in requests),
        tokens_per_s=median(rates),
        tokens_per_s_low=min(rates),
        tokens_per_s_high=max(rates),
        first_token_s=_median_of(repetitions, first_token_s),
        inter_token_s=_median_of(repetitions, inter_token_s),
        speedup=against.median if against else None,
        speedup_low=against.low if against else None,
        speedup_high=against.high if against else None,
        accept_length=served_accept_length(served) if verified else None,
        acceptance=served_conditional(served),
        identical=None if plain or not greedy else _identical(ways["plain", ""], ways[way]),
    )


def _rate(passes: Sequence[Pass]) -> float:
    return sum(measured.tokens for measured in passes) / sum(measured.seconds for measured in passes)


def _median_of(repetitions: Sequence[Sequence[Pass]], measure: Callable[[Sequence[Request]], float | None]) -> float | None:
    values = [measure([request for measured in passes for request in measured.requests]) for passes in repetitions]
    known = [value for value in values if value is not None]
    return median(known) if known else None


def first_token_s(requests: Sequence[Request]) -> float | None:
    """Mean seconds from sending a request to its first token."""
    known = [request.first_token_s for request in requests if request.first_token_s is not None]
    return fmean(known) if known else None


def inter_token_s(requests: Sequence[Request]) -> float | None:
    """Mean seconds for each token after the first one, pooled over requests."""
    timed = [request for request in requests if request.first_token_s is not None and request.completion_tokens > 1]
    if not timed:
        return None
    seconds = sum(request.latency_s - (request.first_token_s or 0.0) for request in timed)
    return seconds / sum(request.completion_tokens - 1 for request in timed)


def _identical(plain: Mapping[int, Sequence[Pass]], others: Mapping[int, Sequence[Pass]]) -> int:
    """Requests whose tokens equal those of plain decoding of the same prompt in the same repetition."""
    expected = dict(_answers(plain))
    return sum(expected.get(place) == ids for place, ids in _answers(others))


def _answers(repetitions: Mapping[int, Sequence[Pass]]) -> Iterable[tuple[tuple[int, str, str], tuple[int, ...]]]:
    for repetition, passes in repetitions.items():
        for measured in passes:
            for request in measured.requests:
                yield (repetition, measured.dataset, request.key), request.output_ids


def demo_benchmark(summary: Mapping[str, Any]) -> dict[str, Any]:
    """A finished benchmark's numbers for the demo's own summary. `spread` is the lowest and the highest speedup.

    Keys: accept_length, speedup, spread, baseline_tok_s, draft_tok_s, lookup_accept_length, lookup_speedup, and by_dataset,
    which holds the same keys for each dataset. A mode that was not measured is None.
    """
    rows = summary["rows"]
    datasets = sorted({row["dataset"] for row in rows} - {ALL})
    return _numbers(rows, ALL) | {"by_dataset": {dataset: _numbers(rows, dataset) for dataset in datasets}}


def _numbers(rows: Sequence[Row], dataset: str) -> dict[str, Any]:
    plain, lookup, drafter = (headline(rows, mode, dataset=dataset) or {} for mode in ("plain", "lookup", "drafter"))
    return {
        "accept_length": drafter.get("accept_length"),
        "speedup": drafter.get("speedup"),
        "spread": [drafter["speedup_low"], drafter["speedup_high"]] if drafter else None,
        "baseline_tok_s": plain.get("tokens_per_s"),
        "draft_tok_s": drafter.get("tokens_per_s"),
        "lookup_accept_length": lookup.get("accept_length"),
        "lookup_speedup": lookup.get("speedup"),
    }
