"""What the drafter minimises on one row, as a value and its gradient by the draft logits.

p is the teacher's and q the drafter's distribution over the draft vocabulary. With soft cross-entropy the drafter matches the
whole distribution; the acceptance rate of speculative sampling is α = Σ min(p, q), which the LK losses aim at directly.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from pipeline.errors import ConfigError
from pipeline.lean_ops import argmax

Kind = Literal["cross_entropy", "kl", "lk", "lk_kl"]

SMALLEST_ALPHA = 1e-6
"""Keeps −log α and its gradient finite while the two distributions do not meet yet."""


@dataclass(frozen=True)
class Objective:
    """cross_entropy: −Σ p log q · kl: Σ p log(p/q) · lk: −log α · lk_kl: w·KL + (1−w)·(1−α)."""

    kind: Kind = "cross_entropy"
    kl_weight: float = 0.5
    """w of lk_kl."""

    def __post_init__(self) -> None:
        if not 0 <= self.kl_weight <= 1:
            raise ConfigError(f"kl_weight must lie between 0 and 1, not {self.kl_weight}")

    def value_and_gradient(self, drafted: "Drafted", p: Tensor) -> tuple[Tensor, Tensor]:
        """Losses [c, K] and their gradient by the draft logits [c, K, N], for p [c, 1, N]. `drafted.q` is overwritten."""
        q = drafted.q
        if self.kind in ("cross_entropy", "kl"):
            value = _cross_entropy(drafted, p)
            if self.kind == "kl":
                value -= _entropy(p)
            return value, q.sub_(p)
        alpha, slope = _alpha(q, p)
        if self.kind == "lk":
            alpha.clamp_(min=SMALLEST_ALPHA)
            value = -alpha.log()
            return value, slope.div_(-alpha[..., None])
        divergence = _cross_entropy(drafted, p) - _entropy(p)
        value = self.kl_weight * divergence + (1 - self.kl_weight) * (1 - alpha)
        return value, slope.mul_(self.kl_weight - 1).add_(q.sub_(p), alpha=self.kl_weight)


@dataclass(frozen=True)
class Drafted:
    """A drafter's guesses in the three forms that objectives need, made with one exponential for each logit."""

    logits: Tensor
    """[c, K, N], float32 or wider."""
    q: Tensor
    """[c, K, N]: their softmax."""
    log_norm: Tensor
    """[c, K]: log Σ exp(logits)."""
    best: Tensor
    """int64 [c, K]: index of the largest."""

    @classmethod
    def of(cls, logits: Tensor) -> "Drafted":
        q, best = logits.softmax(-1), argmax(logits)
        at = best[..., None]
        # The largest q is at least 1/N, so that its logarithm is as exact as a sum of exponentials would be.
        return cls(logits, q, (logits.gather(-1, at) - q.gather(-1, at).log()).squeeze(-1), best)


def _cross_entropy(drafted: Drafted, p: Tensor) -> Tensor:
    value: Tensor = drafted.log_norm - (drafted.logits @ p.mT).squeeze(-1)
    return value


def _entropy(p: Tensor) -> Tensor:
    value: Tensor = -torch.special.xlogy(p, p).sum(-1)
    return value


def _alpha(q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    """α = Σ min(p, q), [c, K], and its gradient by the logits of q: q_j·([q_j < p_j] − Σ_i q_i [q_i < p_i])."""
    alpha = torch.minimum(p, q).sum(-1)
    below = (q < p) * q  # [c, K, N]
    return alpha, below.sub_(q * below.sum(-1, keepdim=True))
