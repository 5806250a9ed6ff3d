"""Choosing the next token of each request.

top_k, top_p and min_p all keep the most likely tokens, so each is a least probability; the highest of the three decides. One
uniform number a token then picks along the kept tokens in the order of their ids: rounding differences between batches can
change an answer only where that number falls on an edge.
"""

import torch
from torch import Tensor

from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.requests import SamplingParams

NUCLEUS_FLOOR = 1e-4
"""Tokens below this share of the likeliest are left out of the first, cheap search for the nucleus."""


def choose(logits: Tensor, job: Job, likeliest: int) -> int:
    """The next token of a job, from its logits [vocab] and the first index of their maximum."""
    if job.generator is None:
        return likeliest
    probabilities = torch.softmax(logits.float() / job.sampling.temperature, dim=-1)
    least = least_probability(probabilities, job.sampling)
    kept = (probabilities >= least).nonzero()[:, 0]
    cumulative = probabilities[kept].double().cumsum(0)
    uniform = torch.rand((), generator=job.generator, dtype=torch.float64).item()
    index = torch.searchsorted(cumulative, cumulative[-1] * uniform, right=True).item()
    return int(kept[min(int(index), len(kept) - 1)])


def least_probability(probabilities: Tensor, sampling: SamplingParams) -> float:
    """The probability below which tokens are cut, [vocab] → scalar."""
    highest = float(probabilities.max())
    least = sampling.min_p * highest
    if 0 < sampling.top_k < len(probabilities):
        least = max(least, float(probabilities.topk(sampling.top_k).values[-1]))
    if sampling.top_p < 1:
        least = max(least, _nucleus_edge(probabilities, sampling.top_p, highest))
    return least


def _nucleus_edge(probabilities: Tensor, top_p: float, highest: float) -> float:
    """The least likely token of the smallest set that holds `top_p` of the mass."""
    likely = probabilities[probabilities >= NUCLEUS_FLOOR * highest]
    if float(likely.sum()) < top_p:
        likely = probabilities
    ordered = likely.sort(descending=True).values
    before = ordered.double().cumsum(0) - ordered
    return float(ordered[(before < top_p).sum() - 1])
