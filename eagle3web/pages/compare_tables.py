"""Datasets and measurements of several runs, side by side."""

from collections.abc import Sequence
from dataclasses import dataclass

from eagle3web import formats
from eagle3web.models import Attempt, BenchmarkRow, DatasetProgress, Run
from eagle3web.queries import compare
from eagle3web.queries.benchmarks import MODES


@dataclass(frozen=True)
class Cell:
    """What one run says in one row."""

    text: str
    sub: str = ""
    state: str = ""
    """Colours and names a dataset's state."""


@dataclass(frozen=True)
class Row:
    label: str
    sub: str
    cells: list[Cell | None]
    """One for each run; None where it has nothing to say."""


def dataset_rows(runs: Sequence[Run], attempts: Sequence[Attempt]) -> list[Row]:
    """A row for each dataset that any of the runs generates answers to. One query."""
    run_of = {attempt.pk: attempt.run_id for attempt in attempts}
    found: dict[str, dict[int, DatasetProgress]] = {}
    for row in compare.datasets_of_runs(attempts):
        found.setdefault(row.dataset, {})[run_of[row.attempt_id]] = row
    return [Row(name, "", [_dataset(own.get(run.pk)) for run in runs]) for name, own in found.items()]


def _dataset(row: DatasetProgress | None) -> Cell | None:
    if row is None:
        return None
    done, wanted = formats.of(row.tokens, row.budget) if row.budget is not None else (formats.tokens(row.tokens), "")
    mean = f", mean {formats.count(row.mean_completion)}" if row.mean_completion else ""
    errors = f", {formats.count(row.errors)} errors" if row.errors else ""
    amount = f"{done} of {wanted}" if wanted else done
    return Cell(amount, f"{formats.count(row.done)} answers{mean}{errors}", row.state)


def result_rows(runs: Sequence[Run], attempts: Sequence[Attempt]) -> list[Row]:
    """A row for each combination that any of the runs measured; each speedup is against its own run's plain row. One query."""
    run_of = {attempt.pk: attempt.run_id for attempt in attempts}
    found: dict[tuple[str, int, str, str], dict[int, BenchmarkRow]] = {}
    for row in compare.results_of_runs(attempts):
        found.setdefault((row.dataset, row.concurrency, row.mode, row.shape), {})[run_of[row.attempt_id]] = row
    order = sorted(found, key=lambda key: (key[0], key[1], MODES.index(key[2]) if key[2] in MODES else len(MODES), key[3]))
    return [
        Row(key[0] or "all datasets", _combination(*key[1:]), [_result(found[key].get(run.pk)) for run in runs])
        for key in order
    ]


def _combination(concurrency: int, mode: str, shape: str) -> str:
    word = {"plain": "plain decoding", "lookup": "prompt lookup"}.get(mode, mode)
    return f"{word}{f' {shape}' if shape else ''}, {formats.count(concurrency)} at once"


def _result(row: BenchmarkRow | None) -> Cell | None:
    if row is None:
        return None
    rate = f"{formats.rate(row.tokens_per_s)} tok/s"
    if row.speedup is None:
        return Cell(rate, "baseline" if row.mode == "plain" else "")
    spread = f"{formats.times(row.speedup_low)} to {formats.times(row.speedup_high)}, {rate}"
    return Cell(formats.times(row.speedup), f"accept {formats.decimal(row.accept_length)}; {spread}")
