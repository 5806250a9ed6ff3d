"""What an extraction was made from, by hash, and whether its answers were greedy."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from pipeline.answer_sets import AnswerSet
from pipeline.artifacts import sha256_file
from pipeline.responses.index import part_paths
from pipeline.responses.manifest import read_manifest


def answers_inputs(folder: Path, sets: Sequence[AnswerSet], pulse: Callable[[], None] = lambda: None) -> dict[str, str]:
    """`responses/DATASET` → a hash over the hashes of its parts. `pulse` is called at each part."""
    inputs = {}
    for chosen in sets:
        digest = hashlib.sha256()
        for path in part_paths(folder / chosen.dataset):
            pulse()
            digest.update(sha256_file(path).encode())
        inputs[f"responses/{chosen.dataset}"] = digest.hexdigest()
    return inputs


def greedy_datasets(folder: Path, sets: Sequence[AnswerSet]) -> set[str]:
    """Datasets whose answers were all sampled greedily, as far as the manifests of their stores tell."""
    greedy = set()
    for chosen in sets:
        ways = [
            scope["way"]
            for scope in read_manifest(folder / chosen.dataset)["scopes"]
            if scope["revision"] == chosen.revision and chosen.sampling in ("", scope["sampling"])
        ]
        if ways and all(way["temperature"] == 0 or way["top_k"] == 1 for way in ways):
            greedy.add(chosen.dataset)
    return greedy
