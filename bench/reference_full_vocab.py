"""A straightforward training-time test, as the yardstick of bench/training_step.py.

The teacher's distribution is kept over the full vocabulary in float32, all rows go through all steps, the keys of all steps
are laid end to end under one explicit mask, the draft logits of all steps stay alive until autograd has used them.
"""

import torch
from torch import Tensor
from torch.nn import functional

from pipeline.drafter_config import DrafterConfig
from pipeline.model import Drafter
from pipeline.rope import rotate, rotations


def attention_mask(rows: int, step: int) -> Tensor:
    """bool [rows, (step + 1) · rows]."""
    causal = torch.ones(rows, rows, dtype=torch.bool).tril()
    return torch.cat([causal] + [torch.eye(rows, dtype=torch.bool)] * step, dim=1)


def _norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    normed: Tensor = functional.rms_norm(x.float(), weight.shape, weight, eps)
    return normed


def loss(
    drafter: Drafter, head: Tensor, ids: Tensor, features: Tensor, last: Tensor, *, steps: int, decay: float = 0.8
) -> Tensor:
    """Scalar loss of a padded batch in which every token after the second is a label.

    ids: [B, T]; features: [B, T, 3H]; last: [B, T, H], normed; head: [V, H].
    """
    config, layer = drafter.config, drafter.midlayer
    rows = ids.shape[1] - 1
    with torch.no_grad():
        logits = (last @ head.T).float()  # [B, T, V]
        kept = drafter.t2d[logits.argmax(-1)]  # [B, T]
        teacher = logits[..., drafter.t2d].softmax(-1)  # [B, T, N]
    hidden = drafter.fc(features[:, :rows])  # [B, rows, H]
    keys: list[Tensor] = []
    values: list[Tensor] = []
    total: Tensor = hidden.new_zeros(())
    for step in range(steps):
        tokens = functional.pad(ids, (0, steps))[:, 1 + step : 1 + step + rows]
        embedded = functional.embedding(tokens, drafter.embedding)
        joined = torch.cat(
            [
                _norm(embedded, layer.input_layernorm.weight, config.rms_norm_eps),
                _norm(hidden, layer.hidden_norm.weight, config.rms_norm_eps),
            ],
            dim=-1,
        )
        query, key, value = _project(drafter, config, joined, step)
        keys.append(key)
        values.append(value)
        attended = functional.scaled_dot_product_attention(
            query, torch.cat(keys, 2), torch.cat(values, 2), attn_mask=attention_mask(rows, step)
        )
        hidden = hidden + layer.self_attn.o_proj(attended.transpose(1, 2).flatten(2))
        inner = _norm(hidden, layer.post_attention_layernorm.weight, config.rms_norm_eps)
        mlp = layer.mlp
        hidden = hidden + mlp.down_proj(functional.silu(mlp.gate_proj(inner)) * mlp.up_proj(inner))
        log_q = drafter.lm_head(_norm(hidden, drafter.norm.weight, config.rms_norm_eps)).float().log_softmax(-1)
        labels = rows - 1 - step  # the rows whose label lies inside the document
        row_loss = -(teacher[:, 1 + step : 1 + step + labels] * log_q[:, :labels]).sum(-1)
        counts = kept[:, 1 + step : 1 + step + labels]
        total += decay**step * (row_loss * counts).sum() / counts.sum()
    return total


def _project(drafter: Drafter, config: DrafterConfig, joined: Tensor, step: int) -> tuple[Tensor, Tensor, Tensor]:
    """Query, key and value of one step, [B, heads, rows, head_dim] each."""
    attention = drafter.midlayer.self_attn
    batch, rows, _ = joined.shape
    positions = (torch.arange(rows) + step).repeat(batch)
    cos, sin = rotations(positions, attention.inverse_frequencies, attention.rope_factor, torch.float32)

    def heads(projected: Tensor, turn: bool) -> Tensor:
        flat = projected.reshape(batch * rows, -1, config.head_dim)
        flat = rotate(flat.float(), cos, sin).to(flat.dtype) if turn else flat
        shaped = flat.view(batch, rows, -1, config.head_dim).transpose(1, 2)
        return shaped.repeat_interleave(config.num_attention_heads // shaped.shape[1], dim=1)

    return heads(attention.q_proj(joined), True), heads(attention.k_proj(joined), True), heads(attention.v_proj(joined), False)
