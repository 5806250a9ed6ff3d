"""What stages of a drafter's making say, told through event files and the ingestor: rows of pages come as they do in life."""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils import timezone

from eagle3web.domain.ingest import Ingestor
from eagle3web.models import Attempt
from pipeline import drafter_events as said
from pipeline import server_events as served
from pipeline.artifacts import Home
from pipeline.event import Event
from pipeline.events import StageStarted, encode

Told = Iterable[tuple[float, Event]]
"""(seconds after the start, event)."""
DATASETS = ("B1_glaive", "B2_opencode", "B3_openmath", "B4_ultrachat")


def tell(attempt: Attempt, told: Told, *, start: datetime | None = None) -> None:
    """Append the events to the attempt's file, and store them."""
    path = Path(attempt.folder) / "events.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    begin = start or attempt.started_at or timezone.now()
    seq = len(path.read_bytes().splitlines()) if path.exists() else 0
    with path.open("ab") as file:
        for seq, (after, event) in enumerate(told, start=seq + 1):  # noqa: B020  (goes on counting)
            file.write(encode(event, seq=seq, now=begin + timedelta(seconds=after)))
    ingestor = Ingestor(attempt)
    while ingestor.store():
        pass


def extraction(**fields: Any) -> said.ExtractionProgress:
    values: dict[str, Any] = {
        "documents": 120, "total": 900, "skipped": 2, "tokens": 60_000, "total_tokens": 450_000, "bytes": 276_000_000,
        "total_bytes": 2_070_000_000, "agreed": 47_800, "compared": 48_000, "tokens_per_s": 1850.0, "eta_s": 210.0,
    }  # fmt: skip
    return said.ExtractionProgress(**values | fields)


def step(n: int, *, total: int = 2000, **fields: Any) -> said.StepLogged:
    """A step of a training that goes well."""
    loss = 1.1 + 3.2 * math.exp(-n / 350) + 0.05 * math.sin(n * 1.7)
    values: dict[str, Any] = {
        "step": n,
        "total_steps": total,
        "epoch": 2 * n / total,
        "loss": loss,
        "step_losses": tuple(loss * (1 + 0.08 * k) for k in range(7)),
        "accuracy": tuple((0.72 - 0.05 * k) * (1 - math.exp(-(n + 60) / 400)) + 0.01 * math.sin(n + k) for k in range(7)),
        "learning_rate": 1e-3 * min(1.0, (n + 1) / 60) * (0.55 + 0.45 * math.cos(math.pi * n / total)),
        "grad_norm": 0.4 + 1.5 * math.exp(-n / 200),
        "tokens": n * 4096,
        "tokens_per_s": 3900.0 + 180 * math.sin(n / 9),
        "memory_bytes": 1_310_000_000 + 400_000 * (n // 100),
        "eta_s": (total - n) * 1.05,
    }
    return said.StepLogged(**values | fields)


def evaluation(n: int) -> said.EvalLogged:
    grown = 1 - math.exp(-n / 400)
    return said.EvalLogged(
        step=n,
        loss=1.25 + 3.2 * math.exp(-n / 350),
        accuracy=tuple((0.68 - 0.05 * k) * grown for k in range(7)),
        accept_length=1 + 1.95 * grown,
        documents=45,
        datasets={name: 1 + (1.6 + 0.2 * i) * grown for i, name in enumerate(DATASETS)},
    )


def decoded(n: int) -> said.DecodeEvalLogged:
    grown = 1 - math.exp(-n / 400)
    return said.DecodeEvalLogged(step=n, accept_length=1 + 1.68 * grown, prompts=16, tokens=2048, datasets={})


def saved(attempt: Attempt, n: int, *, best: bool = True, removed: tuple[int, ...] = ()) -> said.CheckpointSaved:
    folder = Home(Path(settings.EAGLE3_HOME)).checkpoints(attempt.run.project.slug, attempt.run_id)
    grown = 1 - math.exp(-n / 400)
    metrics = {"eval_loss": 1.25 + 3.2 * math.exp(-n / 350), "simulated_accept_length": 1 + 1.95 * grown}
    return said.CheckpointSaved(
        step=n,
        path=str(folder / f"step-{n:06d}"),
        bytes=58_300_000,
        metrics=metrics | {"accept_length": 1 + 1.68 * grown},
        best=best,
        removed=tuple(str(folder / f"step-{old:06d}") for old in removed),
    )


def training(attempt: Attempt, *, first: int, last: int) -> list[tuple[float, Event]]:
    """Every fifth step from `first` to `last`, evaluated every 100 and saved every 200, keeping the newest two."""
    told: list[tuple[float, Event]] = [(0.0, StageStarted(stage="train", config_hash="12345678"))]
    for n in range(first, last + 1, 5):
        told.append(((n - first) * 1.05 + 1, step(n)))
        at = (n - first) * 1.05 + 1.2
        if n and n % 100 == 0:
            told += [(at, evaluation(n)), (at + 0.1, decoded(n))]
        if n and n % 200 == 0:
            told.append((at + 0.2, saved(attempt, n, removed=(n - 400,) if n > 400 else ())))
    return told


def measured(done: int, *, total: int = 72, **fields: Any) -> said.BenchmarkMeasured:
    values: dict[str, Any] = {
        "dataset": "B2_opencode", "mode": "drafter", "shape": "3/1/4", "concurrency": 1, "repetition": 2, "requests": 8,
        "tokens": 1024, "seconds": 15.8, "tokens_per_s": 64.9, "accept_length": 2.71, "done": done, "total": total,
        "eta_s": (total - done) * 16.0,
    }  # fmt: skip
    return said.BenchmarkMeasured(**values | fields)


def summarised(dataset: str, mode: str, speedup: float | None = None, **fields: Any) -> said.BenchmarkSummarised:
    rate = 41.2 * (speedup or 1)
    values: dict[str, Any] = {
        "shape": "" if mode == "plain" else "3/1/4",
        "concurrency": 1,
        "requests": 24,
        "tokens": 3072,
        "tokens_per_s": rate,
        "tokens_per_s_low": rate * 0.985,
        "tokens_per_s_high": rate * 1.012,
        "first_token_s": 0.031,
        "inter_token_s": 0.0242 / (speedup or 1),
        "speedup": speedup,
        "speedup_low": speedup and speedup - 0.04,
        "speedup_high": speedup and speedup + 0.03,
        "accept_length": None if mode == "plain" else 1.3 * (speedup or 1),
        "acceptance": () if mode == "plain" else (0.76, 0.66, 0.57) if mode == "drafter" else (0.41, 0.36, 0.33),
        "identical": None if mode == "plain" else 24,
    }
    return said.BenchmarkSummarised(dataset=dataset, mode=mode, **values | fields)


def results(*, concurrency: tuple[int, ...] = (1, 4, 16)) -> list[said.BenchmarkSummarised]:
    """Three modes over all datasets and each of them; the last dataset is slower with the drafter."""
    gains = {"": (1.21, 1.58), **dict(zip(DATASETS, ((1.42, 1.93), (1.31, 1.81), (1.09, 1.74), (1.02, 0.97)), strict=True))}
    found = []
    for dataset, (lookup, drafter) in gains.items():
        for n in concurrency:
            fade = 1 / (1 + 0.03 * (n - 1))
            found.append(summarised(dataset, "plain", concurrency=n))
            found.append(summarised(dataset, "lookup", 1 + (lookup - 1) * fade - 0.01 * n, concurrency=n))
            found.append(summarised(dataset, "drafter", 1 + (drafter - 1) * fade, concurrency=n))
    return found


def drafted(dataset: str = "B2_opencode", prompt_id: str = "merge-intervals", **fields: Any) -> said.AnswerDrafted:
    pieces = (
        "def", " merge", "_int", "ervals", "(", "inter", "vals", "):", "\n    ", '"""', "Merge", " over", "lapping", " inter",
        "vals", ".", '"""', "\n    ", "inter", "vals", " =", " sorted", "(", "inter", "vals", ")", "\n    ", "return", " inter",
        "vals",
    )  # fmt: skip
    depths = (0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 0, 0, 1, 0, 1, 2, 3, 0, 1, 2)
    values: dict[str, Any] = {
        "prompt": "Write a function that merges overlapping intervals.", "mode": "drafter", "shape": "3/1/4", "pieces": pieces,
        "depths": depths,
    }  # fmt: skip
    return said.AnswerDrafted(dataset=dataset, prompt_id=prompt_id, **values | fields)


def server_started(number: int = 1, *, drafter: str = "") -> served.ServerStarted:
    return served.ServerStarted(
        number=number,
        pid=4711,
        url="http://gpu-07:30000",
        version="0.5.23",
        drafter=drafter,
        command=("-m", "sglang.launch_server"),
        log=f"server-{number}.log",
    )


def server_ready(number: int = 1, *, engine: str = "r7", url: str = "http://gpu-07:30000") -> served.ServerReady:
    return served.ServerReady(number=number, engine=engine, url=url, seconds=312.0, model="/models/t", context_length=32768)


def server_measured(running: int = 12, *, accept_length: float | None = 2.71, number: int = 1) -> served.ServerMeasured:
    return served.ServerMeasured(
        number=number, running=running, waiting=3, tokens_per_s=812.5 if running else 0.0, accept_length=accept_length
    )
