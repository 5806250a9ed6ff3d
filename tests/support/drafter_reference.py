"""The training-time test of EAGLE-3 written down as plainly as possible, in float64, from the definition and not from our code.

One document at a time, every row at every step, an explicit mask over the keys of all steps, full-vocabulary teacher logits,
autograd for all gradients. Slow and large, and therefore easy to believe.
"""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import silu


@dataclass(frozen=True)
class Sizes:
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    theta: float
    eps: float


def norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    return weight * x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)


def rope(x: Tensor, positions: Tensor, theta: float) -> Tensor:
    """x: [rows, heads, head_dim]."""
    size = x.shape[-1]
    angles = positions.double()[:, None] / theta ** (torch.arange(0, size, 2).double() / size)  # [rows, head_dim/2]
    cos, sin = torch.cat([angles, angles], -1).cos()[:, None], torch.cat([angles, angles], -1).sin()[:, None]
    turned = torch.cat([-x[..., size // 2 :], x[..., : size // 2]], -1)
    return x * cos + turned * sin


def mask(rows: int, step: int) -> Tensor:
    """bool [rows, (step + 1) · rows]: step-0 keys causally, later steps' keys on their own diagonal."""
    causal = torch.ones(rows, rows).tril().bool()
    return torch.cat([causal] + [torch.eye(rows).bool()] * step, dim=1)


def hidden_states(
    weights: dict[str, Tensor], embedding: Tensor, sizes: Sizes, ids: Tensor, features: Tensor, steps: int
) -> Tensor:
    """Normed outputs [K, T−1, H] of one document. ids: [T]; features: [T, 3H]."""
    rows = len(ids) - 1
    padded = torch.cat([ids, ids.new_zeros(steps)])
    h = features[:rows] @ weights["fc.weight"].T
    keys: list[Tensor] = []
    values: list[Tensor] = []
    outputs = []
    for k in range(steps):
        token = embedding[padded[1 + k : 1 + k + rows]]
        x = torch.cat(
            [
                norm(token, weights["midlayer.input_layernorm.weight"], sizes.eps),
                norm(h, weights["midlayer.hidden_norm.weight"], sizes.eps),
            ],
            -1,
        )
        q, key, value = (
            (x @ weights[f"midlayer.self_attn.{name}_proj.weight"].T).reshape(rows, -1, sizes.head_dim) for name in "qkv"
        )
        positions = torch.arange(rows) + k
        q, key = rope(q, positions, sizes.theta), rope(key, positions, sizes.theta)
        group = sizes.heads // sizes.kv_heads
        keys.append(key.repeat_interleave(group, dim=1))
        values.append(value.repeat_interleave(group, dim=1))
        scores = torch.einsum("rhd,shd->hrs", q, torch.cat(keys)) / sizes.head_dim**0.5
        scores = scores.masked_fill(~mask(rows, k), float("-inf"))
        attended = torch.einsum("hrs,shd->rhd", scores.softmax(-1), torch.cat(values)).reshape(rows, -1)
        h = h + attended @ weights["midlayer.self_attn.o_proj.weight"].T
        inner = norm(h, weights["midlayer.post_attention_layernorm.weight"], sizes.eps)
        gate, up = (inner @ weights[f"midlayer.mlp.{name}_proj.weight"].T for name in ("gate", "up"))
        h = h + (silu(gate) * up) @ weights["midlayer.mlp.down_proj.weight"].T
        outputs.append(norm(h, weights["norm.weight"], sizes.eps))
    return torch.stack(outputs)


def row_loss(kind: str, p: Tensor, log_q: Tensor, kl_weight: float) -> Tensor:
    """Loss of each row. p, log_q: [rows, N]."""
    alpha = torch.minimum(p, log_q.exp()).sum(-1)
    divergence = (torch.special.xlogy(p, p) - p * log_q).sum(-1)
    losses: dict[str, Tensor] = {
        "cross_entropy": -(p * log_q).sum(-1),
        "kl": divergence,
        "lk": -alpha.log(),
        "lk_kl": kl_weight * divergence + (1 - kl_weight) * (1 - alpha),
    }
    return losses[kind]


@dataclass(frozen=True)
class Reference:
    loss: Tensor
    step_losses: list[float]
    counted: list[int]
    accuracy: list[float]


def training_time_test(
    weights: dict[str, Tensor],
    embedding: Tensor,
    head: Tensor,
    draft_ids: Tensor,
    sizes: Sizes,
    documents: list[tuple[Tensor, Tensor, Tensor, Tensor]],
    *,
    steps: int,
    decay: float = 0.8,
    kind: str = "cross_entropy",
    kl_weight: float = 0.5,
) -> Reference:
    """Documents are (ids [T], loss mask [T], features [T, 3H], normed last hidden states [T, H])."""
    sums, counted = [torch.zeros((), dtype=torch.float64) for _ in range(steps)], [0] * steps
    hits, supervised = [0] * steps, [0] * steps
    for ids, loss_mask, features, last in documents:
        outputs = hidden_states(weights, embedding, sizes, ids, features, steps)
        full = last @ head.T  # [T, V]
        for k in range(steps):
            for p in range(len(ids) - 1):
                label = p + 2 + k
                if label >= len(ids) or not loss_mask[label]:
                    continue
                supervised[k] += 1
                best = int(full[label - 1].argmax())
                if best not in draft_ids.tolist():
                    continue
                log_q = (outputs[k, p] @ weights["lm_head.weight"].T).log_softmax(-1)
                teacher = full[label - 1][draft_ids].softmax(-1)
                counted[k] += 1
                hits[k] += int(draft_ids[int(log_q.argmax())] == best)
                sums[k] = sums[k] + row_loss(kind, teacher[None], log_q[None], kl_weight)[0]
    means = [total / max(1, count) for total, count in zip(sums, counted, strict=True)]
    loss = torch.stack([decay**k * mean for k, mean in enumerate(means)]).sum()
    accuracy = [hit / max(1, rows) for hit, rows in zip(hits, supervised, strict=True)]
    return Reference(loss, [float(mean.detach()) for mean in means], counted, accuracy)
