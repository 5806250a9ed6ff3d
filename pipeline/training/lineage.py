"""Where a checkpoint comes from: what its manifest says besides hashes of its own files."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pipeline.artifacts import config_hash, sha256_file
from pipeline.checkpoint import read_manifest
from pipeline.config import to_mapping
from pipeline.errors import ConfigError
from pipeline.exclusions import Exclusions
from pipeline.stage import versions
from pipeline.training.config import TrainConfig
from pipeline.training.corpus import Corpus
from pipeline.training.drafting import Start
from pipeline.training.parallel import World

MAY_CHANGE = (
    "checkpoints",
    "device",
    "parallel",
    "precision",
    "epochs",
    "max_steps",
    "max_minutes",
    "saving",
    "evaluation",
    "log_to",
    "project",
)
"""Settings, or groups of them, that may differ when a training is resumed; the share that is held out may not."""


def describe(config: TrainConfig, corpus: Corpus, start: Start, world: World, *, precision: str) -> dict[str, Any]:
    """The part of the lineage that is the same for all checkpoints of one attempt."""
    values = to_mapping(config)
    lineage = {
        "project": config.project,
        "target": corpus.source.layout.target,
        "inputs": corpus.source.inputs(),
        "datasets": corpus.summary(),
        "documents": {"trained": len(corpus.train), "held_out": len(corpus.held_out), "unlabelled": corpus.unlabelled},
        "excluded": {"documents": corpus.source.excluded, "list": config.exclusions.hash, "by": list(config.exclusions.by)},
        "config": values,
        "config_hash": config_hash(values),
        "seed": config.seed,
        "vocabulary": {
            "size": len(start.drafter.d2t),
            "coverage": start.coverage,
            "held_out_coverage": start.held_out_coverage,
        },
        "start": start.origin,
        "precision": precision,
        "processes": world.size,
        "versions": versions(),
        "git_sha": git_sha(),
    }
    if config.saving.continue_from:
        lineage["continued_from"] = sha256_file(Path(config.saving.continue_from) / "model.safetensors")
    return lineage


def require_same_training(checkpoint: Path, config: TrainConfig) -> None:
    """Raises ConfigError, naming the settings, when a checkpoint is one of another training than the config describes."""
    # A checkpoint of a version without exclusions was trained without any.
    before = {"exclusions": to_mapping(Exclusions())} | read_manifest(checkpoint).get("lineage", {}).get("config", {})
    after = to_mapping(config)
    share = "evaluation.held_out_share"
    changed = [key for key in different_keys(before, after) if key == share or key.split(".")[0] not in MAY_CHANGE]
    if changed:
        raise ConfigError(
            f"{checkpoint.parent} holds checkpoints of another training: {', '.join(changed)} differ; "
            "name another folder, or continue from one of them"
        )


def different_keys(one: Mapping[str, Any], other: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Dotted names of the settings in which two configs differ. Lists and tuples with equal items are equal."""
    found = []
    for key in sorted(set(one) | set(other)):
        left, right = one.get(key), other.get(key)
        if isinstance(left, Mapping) and isinstance(right, Mapping):
            found += different_keys(left, right, f"{prefix}{key}.")
        elif config_hash(left) != config_hash(right):
            found.append(f"{prefix}{key}")
    return found


def git_sha() -> str:
    """Of this program's own checkout; empty where it is none."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
