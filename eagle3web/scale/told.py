"""What attempts said: events, and points of chart lines. One training has a line of LONGEST points, to zoom into."""

import math
import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from eagle3web.enums import Stage
from eagle3web.models import Attempt, Event, MetricPoint
from eagle3web.scale.project import DATASETS
from eagle3web.scale.rows import Advance, write
from eagle3web.scale.runs import Made

LONGEST = 100_000
LINES: dict[str, tuple[tuple[str, str], ...]] = {
    Stage.GENERATE: tuple((metric, name) for name in DATASETS[:4] for metric in ("tokens", "tokens_per_s")),
    Stage.EXTRACT: (("tokens", ""), ("bytes", ""), ("tokens_per_s", "")),
    Stage.TRAIN: (
        ("loss", ""), ("memory_bytes", ""), ("learning_rate", ""), ("grad_norm", ""), ("tokens_per_s", ""), ("eval_loss", ""),
        ("accept_length", ""), *(("accuracy", str(k)) for k in range(5)),
    ),
    Stage.BENCHMARK: (("tokens_per_s", "plain"), ("tokens_per_s", "drafter 3/1/4")),
}  # fmt: skip


def make_points(made: Sequence[Made], count: int, chance: random.Random, advance: Advance) -> None:
    """`count` points: LONGEST (a twentieth of all at most) in one line, the others spread over all attempts."""
    attempts = [one.attempt for one in made if one.attempt]
    trained = [attempt for attempt in attempts if attempt.run.stage == Stage.TRAIN and attempt.ended_at]
    first = min(LONGEST, count // 20) if trained else 0
    each, more = divmod(count - first, len(attempts))

    def points() -> Iterator[MetricPoint]:
        for attempt in trained[-1:]:
            yield from _points(attempt, (("loss", ""),), first, chance)
        for place, attempt in enumerate(attempts):
            lines = LINES[attempt.run.stage]
            # The long line is there already.
            lines = lines[1:] if attempt in trained[-1:] else lines
            yield from _points(attempt, lines, each + (place < more), chance)

    write(MetricPoint, points(), advance)


def _points(attempt: Attempt, lines: Sequence[tuple[str, str]], count: int, chance: random.Random) -> Iterator[MetricPoint]:
    start = attempt.started_at or attempt.created_at
    end = attempt.ended_at or attempt.heartbeat_at or start
    steps = max(1, count // len(lines))
    for n in range(count):
        place, line = divmod(n, len(lines))
        name, series = lines[line]
        share = place / steps
        t = start + (end - start) * min(1.0, share) + timedelta(microseconds=place)
        yield MetricPoint(attempt=attempt, name=name, series=series, t=t, step=place, value=_value(name, share, chance))


def _value(name: str, share: float, chance: random.Random) -> float:
    falling, grown = math.exp(-6 * share), 1 - math.exp(-4 * share)
    usual = {
        "loss": 1.2 + 3 * falling, "eval_loss": 1.3 + 3 * falling, "grad_norm": 0.4 + falling,
        "learning_rate": 1e-4 * (1 - share),
        "accept_length": 1 + 1.6 * grown, "accuracy": 0.7 * grown, "tokens_per_s": 2000.0, "memory_bytes": 1e10,
    }  # fmt: skip
    return usual[name] * chance.uniform(0.97, 1.03) if name in usual else 10_000_000 * share


def make_events(made: Sequence[Made], count: int, chance: random.Random, advance: Advance) -> None:
    """`count` events, spread over all attempts; most are progress, as in life."""
    attempts = [one.attempt for one in made if one.attempt]
    each, more = divmod(count, len(attempts))

    def events() -> Iterator[Event]:
        for place, attempt in enumerate(attempts):
            for seq in range(1, each + (place < more) + 1):
                yield _event(attempt, seq, chance)

    write(Event, events(), advance)


def _event(attempt: Attempt, seq: int, chance: random.Random) -> Event:
    t = (attempt.started_at or attempt.created_at) + timedelta(seconds=seq)
    dataset = DATASETS[seq % len(DATASETS)]
    payload: dict[str, Any]
    if seq == 1:
        kind, payload = "stage_started", {"stage": attempt.run.stage, "config_hash": attempt.run.config_hash}
    elif seq % 20 == 0:
        kind, payload = "warning", {"text": f"answer {seq} is longer than the context", "dataset": dataset}
    elif seq % 20 == 1 and attempt.run.stage == Stage.GENERATE:
        kind, payload = "sample_logged", {"dataset": dataset, "prompt": f"Question {seq}", "answer": "A short answer. " * 20}
    else:
        kind, payload = "generation_progress", {"dataset": dataset, "done": seq, "tokens": chance.randrange(10**6)}
    return Event(attempt=attempt, seq=seq, t=t, kind=kind, payload=payload)
