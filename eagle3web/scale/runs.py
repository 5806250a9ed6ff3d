"""Runs of all stages, the newest of them live; their attempts, datasets and changes of status."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from eagle3web.domain.plans.configs import validate
from eagle3web.enums import AttemptStatus, DatasetState, InputKind, RunStatus, Stage
from eagle3web.models import Attempt, DatasetProgress, Run, RunInput, Transition
from eagle3web.scale.project import DATASETS, GOAL, HOSTS, Place
from eagle3web.scale.rows import Advance, own_moments, write
from pipeline.artifacts import config_hash

APART = timedelta(minutes=40)
"""From one run to the next."""
LIVE, QUEUED = 12, 4
"""The newest runs that are at work, and that wait."""
STAGES = (Stage.GENERATE, Stage.TRAIN, Stage.EXTRACT, Stage.BENCHMARK, Stage.TRAIN)
ENDS = (
    *[(RunStatus.FINISHED, "")] * 15,
    (RunStatus.FAILED, "failed: out of memory on cuda:0"),
    (RunStatus.FAILED, "killed by signal 9"),
    (RunStatus.STOPPED, "stopped by operator-1"),
    (RunStatus.LOST, "the host restarted"),
)
TAKES_FROM: dict[str, tuple[str, InputKind]] = {
    Stage.EXTRACT: (Stage.GENERATE, InputKind.RESPONSES),
    Stage.TRAIN: (Stage.EXTRACT, InputKind.HIDDEN),
    Stage.BENCHMARK: (Stage.TRAIN, InputKind.CHECKPOINT),
}
TAGS = ("nightly", "pilot", "long answers", "vocab 32k", "ttt 7", "baseline", "thinking on", "ablation")


@dataclass(frozen=True)
class Made:
    """A run with its last attempt."""

    run: Run
    attempt: Attempt | None


def make_runs(place: Place, count: int, now: datetime, chance: random.Random, advance: Advance) -> list[Made]:
    """`count` runs, the oldest first."""
    start = now - APART * count
    configs: dict[str, list[dict[str, Any]]] = {
        stage: [_config(place, stage, chance) for _ in range(40)] for stage in dict.fromkeys(STAGES)
    }
    with own_moments(Run, Attempt, Transition):
        runs = [_run(place, n, count, start + APART * n, configs, chance) for n in range(count)]
        write(Run, runs, advance)
        attempts = [attempt for run in runs for attempt in _attempts(run, now, chance)]
        write(Attempt, attempts, lambda n: None)
        write(Transition, _transitions(attempts), lambda n: None)
    write(RunInput, _inputs(runs), lambda n: None)
    write(DatasetProgress, _progress(attempts, chance), lambda n: None)
    last = {attempt.run_id: attempt for attempt in attempts}
    return [Made(run, last.get(run.pk)) for run in runs]


def _run(
    place: Place, n: int, count: int, at: datetime, configs: dict[str, list[dict[str, Any]]], chance: random.Random
) -> Run:
    stage = STAGES[n % len(STAGES)]
    status, _ = chance.choice(ENDS)
    if n >= count - QUEUED:
        status = RunStatus.QUEUED
    elif n >= count - QUEUED - LIVE:
        status = RunStatus.RUNNING
    config = chance.choice(configs[stage])
    trained, measured = stage == Stage.TRAIN and status != RunStatus.QUEUED, stage == Stage.BENCHMARK
    return Run(
        project=place.project, stage=stage, status=status, config=config, config_hash=config_hash(config), created_at=at,
        title=f"{stage} {n}, {chance.choice(TAGS)}" if n % 3 == 0 else "",
        tags=sorted(chance.sample(TAGS, n % 3)), notes="Loss spikes after the second epoch." if n % 17 == 0 else "",
        author=place.people[n % 3], tokens=chance.randrange(10**6, 8 * 10**7) if stage == Stage.GENERATE else 0,
        loss=round(chance.uniform(1.2, 2.4), 4) if trained else None,
        accept_length=round(chance.uniform(1.4, 2.9), 3) if trained or measured else None,
        speedup=round(chance.uniform(0.9, 1.9), 3) if measured or (trained and n % 2 == 0) else None,
    )  # fmt: skip


def _attempts(run: Run, now: datetime, chance: random.Random) -> Iterator[Attempt]:
    if run.status == RunStatus.QUEUED:
        return
    live = run.status == RunStatus.RUNNING
    count = 2 if chance.random() < 0.15 else 1
    for number in range(1, count + 1):
        is_last = number == count
        started = (now - timedelta(minutes=50)) if live else run.created_at + timedelta(minutes=5 * number)
        took = timedelta(seconds=chance.randrange(60, 40_000))
        status = run.status if is_last else RunStatus.FAILED
        ended = None if live and is_last else started + took
        yield Attempt(
            run=run, number=number, status=AttemptStatus(status), host=chance.choice(HOSTS),
            folder=f"runs/{run.pk}/attempts/{number}", config=run.config, created_at=started, started_at=started,
            ended_at=ended,
            reason="" if live and is_last else next((why for end, why in ENDS if end == status), ""), pid=4000 + number,
            exit_code=None if ended is None else 0, git_sha="9f3c2ae" * 5, argv=["python", "-m", "pipeline", run.stage],
            heartbeat_at=now if ended is None else ended, tick_at=now if ended is None else ended,
            progress_at=now if ended is None else ended, counters=_counters(run, chance), log_lines=0,
        )  # fmt: skip


def _counters(run: Run, chance: random.Random) -> dict[str, Any]:
    """The last word of the stage, as its page reads it."""
    if run.stage != Stage.TRAIN:
        return {}
    step = chance.randrange(200, 2000)
    told = {
        "step": step, "total_steps": 2000, "epoch": step / 1000, "loss": 1.5, "step_losses": [1.5], "accuracy": [0.7],
        "learning_rate": 1e-4, "grad_norm": 0.4, "tokens": step * 4096, "tokens_per_s": 3900.0, "memory_bytes": 10**10,
        "eta_s": 60.0,
    }  # fmt: skip
    return {"step_logged": told}


def _inputs(runs: list[Run]) -> Iterator[RunInput]:
    """Each run takes from the newest one before it that makes what it needs."""
    newest: dict[str, Run] = {}
    for run in runs:
        stage, kind = TAKES_FROM.get(run.stage, ("", InputKind.PROMPTS))
        if stage in newest:
            yield RunInput(run=run, source=newest[stage], kind=kind)
        newest[run.stage] = run


def _transitions(attempts: list[Attempt]) -> Iterator[Transition]:
    for attempt in attempts:
        if attempt.ended_at is not None:
            yield Transition(
                run_id=attempt.run_id, attempt=attempt, old="running", new=attempt.status, reason=attempt.reason,
                at=attempt.ended_at,
            )  # fmt: skip


def _progress(attempts: list[Attempt], chance: random.Random) -> Iterator[DatasetProgress]:
    for attempt in attempts:
        if attempt.run.stage != Stage.GENERATE:
            continue
        live = attempt.ended_at is None
        for place, name in enumerate(DATASETS):
            tokens = chance.randrange(GOAL // 10, GOAL)
            yield DatasetProgress(
                attempt=attempt, dataset=name, position=place, state=DatasetState.RUNNING if live else DatasetState.FINISHED,
                reason="" if live else "budget_met", total=6236, done=tokens // 2400, errors=place, truncated=40, tokens=tokens,
                budget=GOAL, budget_version=1, in_flight=32 if live else 0, tokens_per_s=300.0 if live else 0.0,
                mean_completion=2400.0, longest=8192, updated_at=attempt.heartbeat_at,
            )  # fmt: skip


def _config(place: Place, stage: str, chance: random.Random) -> dict[str, Any]:
    slug, target = place.project.slug, place.project.target_path
    sets = [{"slug": name, "revision": f"{n + 1:064x}", "prompts": f"/data/{name}"} for n, name in enumerate(DATASETS)]
    answers = [{"dataset": one["slug"], "revision": one["revision"], "sampling": "0" * 16} for one in sets]
    given: dict[str, Any]
    match stage:
        case Stage.GENERATE:
            given = {"tokenizer": target, "responses": f"/data/{slug}", "concurrency": chance.choice((64, 96, 128))}
            given |= {"datasets": [one | {"budget": GOAL} for one in sets]}
        case Stage.EXTRACT:
            given = {"responses": f"/data/{slug}", "datasets": answers, "hidden": "", "target": target}
        case Stage.TRAIN:
            given = {"target": target, "checkpoints": "", "hidden": [f"/data/hidden/{chance.randrange(99)}"]}
            given |= {"seed": chance.randrange(4), "epochs": chance.choice((1, 2, 3))}
            given |= {"optimizer": {"learning_rate": chance.choice((4e-5, 5e-5, 1e-4))}}
            objective = chance.choice(("cross_entropy", "kl", "lk"))
            given |= {"objective": {"objective": objective, "steps": chance.choice((5, 7))}}
        case _:
            prompts = [{"dataset": one["slug"], "revision": one["revision"], "prompts": one["prompts"]} for one in sets]
            given = {"output": "", "target": target, "drafter": "/data/1", "drafter_name": "r1 best", "prompts": prompts}
            given |= {"seed": chance.randrange(4)}
    return validate(stage, {"project": slug} | given)
