"""How long a dataset's prompts are, in tokens of one model: measured on a sample, so that it takes a second at any size."""

from pathlib import Path
from typing import Any

from pipeline.datasets.paging import read_evenly
from pipeline.errors import DataError
from pipeline.tokens import PromptTokenizer

SAMPLE = 2000
BINS = 24
NICE_STEPS = (1, 2, 5)


def measure_prompts(folder: Path, count: int, tokenizer: PromptTokenizer) -> dict[str, Any]:
    """A histogram of a revision's prompt lengths: `{"edges", "counts", "mean", "max", "sampled", "refused"}`.

    `counts[i]` prompts have edges[i] ≤ tokens < edges[i + 1]. At most 2,000 prompts are measured, evenly spread over the
    file; `refused` are those that the chat template does not take.
    """
    lengths: list[int] = []
    refused = 0
    for prompt in read_evenly(folder, count, SAMPLE):
        try:
            lengths.append(len(tokenizer.encode(prompt)))
        except DataError:
            refused += 1
    return {**histogram(lengths), "sampled": len(lengths) + refused, "refused": refused}


def histogram(lengths: list[int]) -> dict[str, Any]:
    """Bins of equal, round width from 0 to past the longest."""
    longest = max(lengths, default=0)
    width = _round_up(longest / BINS)
    edges = list(range(0, longest + width + 1, width))
    counts = [0] * (len(edges) - 1)
    for length in lengths:
        counts[length // width] += 1
    return {"edges": edges, "counts": counts, "mean": sum(lengths) / len(lengths) if lengths else 0.0, "max": longest}


def _round_up(width: float) -> int:
    power = 1
    while True:
        for step in NICE_STEPS:
            if step * power >= width:
                return step * power
        power *= 10
