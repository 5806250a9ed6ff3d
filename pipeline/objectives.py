"""What the drafter minimises on one row, as a value and its gradient by the draft logits.

p is the teacher's and q the drafter's distribution over the draft vocabulary. With soft cross-entropy the drafter matches the
whole distribution; the acceptance rate of speculative sampling is α = Σ min(p, q), which the LK losses aim at directly.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from pipeline.errors import ConfigError

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

    def value_and_gradient(self, log_q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
        """Losses [c, K] and their gradient by the logits behind `log_q` [c, K, N], for p [c, 1, N]. `log_q` is overwritten."""
        if self.kind in ("cross_entropy", "kl"):
            value = _cross_entropy(log_q, p)
            if self.kind == "kl":
                value -= _entropy(p)
            return value, log_q.exp_().sub_(p)
        if self.kind == "lk":
            alpha, slope = _alpha(log_q.exp_(), p)
            alpha.clamp_(min=SMALLEST_ALPHA)
            value = -alpha.log()
            return value, slope.div_(-alpha[..., None])
        divergence = _cross_entropy(log_q, p) - _entropy(p)
        q = log_q.exp_()
        alpha, slope = _alpha(q, p)
        value = self.kl_weight * divergence + (1 - self.kl_weight) * (1 - alpha)
        return value, slope.mul_(self.kl_weight - 1).add_(q.sub_(p), alpha=self.kl_weight)


def _cross_entropy(log_q: Tensor, p: Tensor) -> Tensor:
    value: Tensor = -torch.linalg.vecdot(p.expand_as(log_q), log_q)
    return value


def _entropy(p: Tensor) -> Tensor:
    value: Tensor = -torch.special.xlogy(p, p).sum(-1)
    return value


def _alpha(q: Tensor, p: Tensor) -> tuple[Tensor, Tensor]:
    """α = Σ min(p, q), [c, K], and its gradient by the logits of q: q_j·([q_j < p_j] − Σ_i q_i [q_i < p_i])."""
    alpha = torch.minimum(p, q).sum(-1)
    below = (q < p) * q  # [c, K, N]
    return alpha, below.sub_(q * below.sum(-1, keepdim=True))
