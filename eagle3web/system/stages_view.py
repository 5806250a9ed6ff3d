"""Extraction, training and benchmarks in the terminal: what the last events said, one fact a line."""

from collections.abc import Callable, Iterator

from rich.progress_bar import ProgressBar
from rich.table import Table

from eagle3web.enums import Stage
from eagle3web.formats import count, duration, percent, rate, size, times, tokens
from eagle3web.models import Attempt, BenchmarkRow
from eagle3web.queries.counters import last_word
from pipeline.drafter_events import BenchmarkMeasured, DecodeEvalLogged, EvalLogged, ExtractionProgress, StepLogged

BAR_WIDTH = 48
Fact = tuple[str, str]


def extraction(attempt: Attempt) -> Iterator[Fact]:
    told = last_word(attempt, ExtractionProgress)
    if told is None:
        return
    yield "answers", f"{count(told.documents)} of {count(told.total)}, {count(told.skipped)} left out"
    yield "tokens", f"{tokens(told.tokens)} of {tokens(told.total_tokens)}, {rate(told.tokens_per_s)} a second"
    yield "disk", f"{size(told.bytes)} of about {size(told.total_bytes)}"
    if told.compared:
        yield "given back", f"{percent(told.agreed / told.compared)} of the generated tokens"
    yield from _eta(told.eta_s)


def training(attempt: Attempt) -> Iterator[Fact]:
    told = last_word(attempt, StepLogged)
    if told is None:
        return
    yield "step", f"{count(told.step)} of {count(told.total_steps)}, {rate(told.tokens_per_s)} tokens a second"
    yield "loss", f"{told.loss:.3f}"
    if told.accuracy:
        yield "accuracy by step", " ".join(f"{share:.2f}" for share in told.accuracy)
    if (evaluated := last_word(attempt, EvalLogged)) is not None:
        yield "held out", f"loss {evaluated.loss:.3f}, accept length {evaluated.accept_length:.2f} (simulated)"
    if (decoded := last_word(attempt, DecodeEvalLogged)) is not None:
        yield "decoded", f"accept length {decoded.accept_length:.2f} on {count(decoded.prompts)} held-out prompts"
    yield from _eta(told.eta_s)


def benchmark(attempt: Attempt) -> Iterator[Fact]:
    told = last_word(attempt, BenchmarkMeasured)
    if told is None:
        return
    yield "passes", f"{count(told.done)} of {count(told.total)}"
    accept = "" if told.accept_length is None else f", accept length {told.accept_length:.2f}"
    mode = f"{told.mode} {told.shape}".strip()
    yield "last", f"{told.dataset}, {mode}: {rate(told.tokens_per_s)} tokens a second{accept}"
    yield from _eta(told.eta_s)


def _eta(seconds: float | None) -> Iterator[Fact]:
    if seconds:
        yield "ETA", duration(seconds)


FACTS: dict[str, Callable[[Attempt], Iterator[Fact]]] = {
    Stage.EXTRACT: extraction,
    Stage.TRAIN: training,
    Stage.BENCHMARK: benchmark,
}


def lines(stage: str, attempt: Attempt) -> list[str]:
    """One line for a log; nothing while the stage has said nothing."""
    facts = list(FACTS[stage](attempt)) if stage in FACTS else []
    return [f"{stage}: " + "; ".join(f"{name} {words}" for name, words in facts)] if facts else []


def table(title: str, stage: str, attempt: Attempt | None) -> Table:
    """One row a fact, with a bar over what can be counted; the results of a benchmark that has them."""
    rows = results(attempt) if attempt is not None and stage == Stage.BENCHMARK else []
    if rows:
        return results_table(title, rows)
    found = Table(title=title, title_justify="left", box=None, pad_edge=False, show_header=False)
    found.add_column(style="dim", no_wrap=True)
    found.add_column()
    facts = list(FACTS[stage](attempt)) if attempt is not None and stage in FACTS else []
    for name, words in facts:
        found.add_row(name, words)
    if attempt is not None and facts and (share := share_of(stage, attempt)) is not None:
        found.add_row("", ProgressBar(total=1.0, completed=share, width=BAR_WIDTH))
    return found


def share_of(stage: str, attempt: Attempt) -> float | None:
    """How much of the attempt is done, 0 to 1; None while it cannot be counted."""
    done, total = 0, 0
    if stage == Stage.EXTRACT and (read := last_word(attempt, ExtractionProgress)) is not None:
        done, total = read.tokens, read.total_tokens
    elif stage == Stage.TRAIN and (step := last_word(attempt, StepLogged)) is not None:
        done, total = step.step, step.total_steps
    elif stage == Stage.BENCHMARK and (measured := last_word(attempt, BenchmarkMeasured)) is not None:
        done, total = measured.done, measured.total
    return min(1.0, done / total) if total else None


def results(attempt: Attempt) -> list[BenchmarkRow]:
    """Rows over all datasets, the baseline first."""
    order = {"plain": 0, "lookup": 1, "drafter": 2}
    rows = BenchmarkRow.objects.filter(attempt=attempt, dataset="")
    return sorted(rows, key=lambda row: (row.concurrency, order.get(row.mode, 9), row.shape))


def results_table(title: str, rows: list[BenchmarkRow]) -> Table:
    found = Table(title=title, title_justify="left", header_style="bold", box=None, pad_edge=False)
    for name in ("mode", "drafts"):
        found.add_column(name, no_wrap=True)
    for name in ("at once", "tok/s", "accept length", "speedup", "spread"):
        found.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        spread = "" if row.speedup is None else f"{times(row.speedup_low)} to {times(row.speedup_high)}"
        found.add_row(
            row.mode,
            row.shape,
            str(row.concurrency),
            rate(row.tokens_per_s),
            "" if row.accept_length is None else f"{row.accept_length:.2f}",
            "baseline" if row.speedup is None else times(row.speedup),
            spread,
        )
    return found
