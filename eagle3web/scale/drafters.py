"""Checkpoints of training runs, and what benchmarks measured of them."""

import random
from collections.abc import Iterator, Sequence

from eagle3web.enums import Review, Stage
from eagle3web.models import BenchmarkRow, Checkpoint
from eagle3web.scale.project import DATASETS, Place
from eagle3web.scale.rows import Advance, write
from eagle3web.scale.runs import Made

A_RUN = 5
"""Checkpoints of one training run, at most."""
GAINS = {"plain": None, "lookup": 1.2, "drafter": 1.55}


def make_checkpoints(
    place: Place, made: Sequence[Made], count: int, chance: random.Random, advance: Advance
) -> list[Checkpoint]:
    """`count` checkpoints; the last of each run is its best, the newest of all is promoted."""
    trained = [one for one in made if one.run.stage == Stage.TRAIN and one.attempt is not None]
    rows = [row for one in trained[-max(1, -(-count // A_RUN)) :] for row in _saved(place, one, chance)][-count:]
    rows[-1].promoted = True
    rows[-1].review = Review.APPROVED
    write(Checkpoint, rows, advance)
    return rows


def _saved(place: Place, one: Made, chance: random.Random) -> Iterator[Checkpoint]:
    attempt = one.attempt
    if attempt is None:
        return
    for n in range(1, A_RUN + 1):
        metrics = {"eval_loss": 2.4 - 0.2 * n, "simulated_accept_length": 1.5 + 0.3 * n}
        yield Checkpoint(
            project=place.project, run=one.run, attempt=attempt, step=400 * n, path=f"/data/checkpoints/{one.run.pk}/{n}",
            bytes=1_200_000_000, metrics=metrics | {"accept_length": round(chance.uniform(1.3, 1.6) + 0.2 * n, 3)},
            best=n == A_RUN, saved_at=attempt.ended_at or attempt.started_at or attempt.created_at,
            review=chance.choice(("", "", Review.PROPOSED, Review.APPROVED, Review.REJECTED)),
            manifest={"lineage": {"datasets": [{"dataset": DATASETS[0], "documents": 900, "tokens": 210_000}]}},
        )  # fmt: skip


def make_results(made: Sequence[Made], checkpoints: Sequence[Checkpoint], chance: random.Random) -> None:
    """Three modes over all datasets and over each of four, for every benchmark that started."""
    write(BenchmarkRow, _results(made, checkpoints, chance), lambda n: None)


def _results(made: Sequence[Made], checkpoints: Sequence[Checkpoint], chance: random.Random) -> Iterator[BenchmarkRow]:
    for one in made:
        if one.run.stage != Stage.BENCHMARK or one.attempt is None:
            continue
        drafter = chance.choice(checkpoints)
        for dataset in ("", *DATASETS[:4]):
            for mode, usual in GAINS.items():
                gain = None if usual is None else round(usual * chance.uniform(0.8, 1.2), 3)
                if mode == "drafter" and not dataset:
                    gain = one.run.speedup
                rate = 41.0 * (gain or 1)
                yield BenchmarkRow(
                    attempt=one.attempt, dataset=dataset, mode=mode, shape="" if mode == "plain" else "3/1/4", concurrency=1,
                    requests=24, tokens=3072, tokens_per_s=rate, tokens_per_s_low=rate * 0.98, tokens_per_s_high=rate * 1.02,
                    first_token_s=0.03, inter_token_s=0.02, speedup=gain, speedup_low=gain and gain - 0.04,
                    speedup_high=gain and gain + 0.03, accept_length=None if gain is None else round(gain * 1.6, 3),
                    acceptance=[] if gain is None else [0.7, 0.6, 0.5], identical=None if gain is None else 24,
                    checkpoint=drafter if mode == "drafter" else None,
                )  # fmt: skip
