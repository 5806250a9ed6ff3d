"""summary.json: the rows with everything that they depend on, from which one can walk back to checkpoint and prompts."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.artifacts import read_json, sha256_file
from pipeline.benchmark.config import BenchmarkConfig, PromptSet
from pipeline.benchmark.engines import Engines, pick_device
from pipeline.benchmark.inputs import Inputs, Prompts
from pipeline.benchmark.measured import Pass
from pipeline.benchmark.prompts import prompts_hash
from pipeline.benchmark.results import whole_repetitions
from pipeline.benchmark.verdict import verdict
from pipeline.benchmark_rows import headline
from pipeline.config import to_mapping
from pipeline.datasets.revision import MANIFEST
from pipeline.drafter_events import BenchmarkSummarised
from pipeline.stage import versions

SUMMARY = "summary.json"
NOT_MEASURED = ("project", "output", "repetitions", "drafter_name")
"""Keys of the config that change nothing about a single pass."""


def setting_of(config: BenchmarkConfig, inputs: Inputs, prompts: Prompts) -> dict[str, Any]:
    """What two passes must share to be compared: the config, the drafter's weights, the prompts, the software."""
    measured = {key: value for key, value in to_mapping(config).items() if key not in NOT_MEASURED}
    return measured | {
        "drafter": inputs.drafter.get("sha256"),
        "prompts": {dataset: prompts_hash(chosen) for dataset, chosen in prompts.items()},
        "versions": versions(),
    }


def summary_of(
    config: BenchmarkConfig,
    inputs: Inputs,
    prompts: Prompts,
    engines: Engines,
    passes: Sequence[Pass],
    rows: Sequence[BenchmarkSummarised],
    *,
    measured: Path,
    interrupted: str | None,
) -> dict[str, Any]:
    """The whole result, as summary.json holds it."""
    values = [asdict(row) for row in rows]
    lowest = min(config.concurrency)
    repetitions = len(whole_repetitions([one for one in passes if one.concurrency == lowest]))
    exact = not config.served and config.dtype == "float32" and is_greedy(config)
    plans = {plan.dataset: plan for plan in config.prompts}
    return {
        "kind": "benchmark",
        "verdict": verdict(values, repetitions=repetitions, exact=exact),
        "project": config.project,
        "target": config.target,
        "drafter": inputs.drafter or None,
        "device": "served" if config.served else pick_device(config.device),
        "dtype": "as served" if config.served else config.dtype,
        "cpus": os.cpu_count(),
        "versions": versions(),
        "engines": {engine.contender.name: engine.told for engine in engines.all},
        "sampling": asdict(config.sampling),
        "prompts": [
            {
                "dataset": dataset,
                "revision": plans[dataset].revision,
                "licence": _licence(plans[dataset]),
                "sha256": prompts_hash(chosen),
                "keys": [prompt.key for prompt in chosen],
            }
            for dataset, chosen in prompts.items()
        ],
        "concurrency": list(config.concurrency),
        "repetitions": repetitions,
        "passes": len(passes),
        "rows": values,
        "measured": {measured.name: sha256_file(measured)},
        "interrupted": interrupted,
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _licence(plan: PromptSet) -> str:
    """As the import recorded it; empty when nobody knows."""
    manifest = Path(plan.prompts).with_name(MANIFEST)
    return str(read_json(manifest).get("licence", "")) if manifest.exists() else ""


def is_greedy(config: BenchmarkConfig) -> bool:
    return config.sampling.temperature == 0 or config.sampling.top_k == 1


def essence(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The few numbers that stand for it, for the stage's last event."""
    best = headline(summary["rows"], "drafter") or {}
    lookup = headline(summary["rows"], "lookup") or {}
    return {
        "verdict": summary["verdict"],
        "passes": summary["passes"],
        "repetitions": summary["repetitions"],
        "speedup": best.get("speedup"),
        "speedup_low": best.get("speedup_low"),
        "speedup_high": best.get("speedup_high"),
        "accept_length": best.get("accept_length"),
        "shape": best.get("shape"),
        "concurrency": best.get("concurrency"),
        "lookup_speedup": lookup.get("speedup"),
        "lookup_accept_length": lookup.get("accept_length"),
    }
