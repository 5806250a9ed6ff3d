"""How a project's drafters became better: what was decoded, what it brought, and what was promoted when."""

import math
import re
from dataclasses import dataclass
from datetime import datetime

from eagle3web.models import AuditEntry, BenchmarkRow, Checkpoint

NEWEST = 2000
"""Checkpoints and benchmarks that the line begins with; older ones are left out."""
PROMOTIONS = 300


@dataclass(frozen=True, kw_only=True)
class Timeline:
    """Moments and values, the oldest first."""

    lengths: list[tuple[datetime, float, str]]
    """Accept length that a checkpoint decoded with while it was trained, and its name."""
    speedups: list[tuple[datetime, float, str]]
    """Of a benchmark's drafter over all datasets, against plain decoding; with the name of its run."""
    promotions: list[tuple[datetime, str]]
    """When, and what."""


def timeline(project_id: int) -> Timeline:
    """Three queries."""
    rows = Checkpoint.objects.filter(project=project_id).order_by("-id")
    found = list(rows.values_list("pk", "run_id", "step", "saved_at", "metrics")[:NEWEST])
    names = {pk: f"r{run} step {step}" for pk, run, step, _, _ in found}
    lengths = [
        (at, float(value), names[pk])
        for pk, _, _, at, metrics in found
        if isinstance(value := metrics.get("accept_length"), (int, float)) and math.isfinite(value)
    ]
    return Timeline(lengths=sorted(lengths), speedups=_speedups(project_id), promotions=_promotions(names))


def _speedups(project_id: int) -> list[tuple[datetime, float, str]]:
    """The best of each benchmark, at the moment when it ended."""
    rows = BenchmarkRow.objects.filter(
        attempt__run__project=project_id, mode="drafter", dataset="", speedup__isnull=False
    ).order_by("-attempt_id")
    columns = ("attempt_id", "attempt__run_id", "attempt__ended_at", "attempt__created_at", "speedup")
    best: dict[int, tuple[datetime, float, str]] = {}
    for attempt, run, ended, created, speedup in rows.values_list(*columns)[:NEWEST]:
        if attempt not in best or speedup > best[attempt][1]:
            best[attempt] = (ended or created, speedup, f"r{run}")
    return sorted(best.values())


def _promotions(names: dict[int, str]) -> list[tuple[datetime, str]]:
    """Of these checkpoints, as the audit trail tells it."""
    rows = AuditEntry.objects.filter(verb="checkpoint.promote").order_by("-id").values_list("at", "target")[:PROMOTIONS]
    found = []
    for at, target in rows:
        key = re.fullmatch(r"checkpoint (\d{1,15})", target, re.ASCII)
        if key and int(key[1]) in names:
            found.append((at, names[int(key[1])]))
    return sorted(found)
