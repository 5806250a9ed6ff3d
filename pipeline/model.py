"""The EAGLE-3 drafter: one Llama decoder layer that reads its target's mind, and the training-time test that unrolls it.

    g = fc(low | mid | high)                            the target's hidden states at position p
    x = input_layernorm(embed(token p+1)) | hidden_norm(g)
    h = g + attention(x);  h = h + mlp(h)
    draft logits for token p+2 = lm_head(norm(h))
    next step: token p+2 and h, as it stands before `norm`, take the places of token p+1 and g

Module names are the tensor names of a checkpoint. Shapes: M all rows, R query rows, H hidden size, N draft vocabulary.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from pipeline.attention import Block, attend, plan_blocks
from pipeline.drafter_config import DrafterConfig
from pipeline.lean_ops import rms_norm, swiglu
from pipeline.rope import frequencies, rotate, rotations
from pipeline.rows import Batch
from pipeline.vocab import DraftVocabulary


class RMSNorm(nn.Module):
    def __init__(self, size: int, eps: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        return rms_norm(x, self.weight, self.eps)


class Attention(nn.Module):
    """Projections with grouped keys and rotary positions."""

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        self.head_dim = config.head_dim
        queries, keys = config.num_attention_heads * config.head_dim, config.num_key_value_heads * config.head_dim
        self.q_proj = nn.Linear(2 * config.hidden_size, queries, bias=False)
        self.k_proj = nn.Linear(2 * config.hidden_size, keys, bias=False)
        self.v_proj = nn.Linear(2 * config.hidden_size, keys, bias=False)
        self.o_proj = nn.Linear(queries, config.hidden_size, bias=False)
        self.inverse_frequencies, self.rope_factor = frequencies(config.rope, config.head_dim)

    def queries(self, x: Tensor, positions: Tensor) -> Tensor:
        """x: [rows, 2H] → [rows, heads, head_dim]."""
        return self._rotate(self.q_proj(x), positions)

    def keys_values(self, x: Tensor, positions: Tensor) -> tuple[Tensor, Tensor]:
        """x: [rows, 2H] → keys and values, [rows, kv_heads, head_dim] each."""
        return self._rotate(self.k_proj(x), positions), self.v_proj(x).view(len(x), -1, self.head_dim)

    def _rotate(self, projected: Tensor, positions: Tensor) -> Tensor:
        heads = projected.view(len(projected), -1, self.head_dim)  # [rows, heads, head_dim]
        wide = heads.to(torch.promote_types(heads.dtype, torch.float32))
        cos, sin = rotations(positions, self.inverse_frequencies.to(positions.device), self.rope_factor, wide.dtype)
        return rotate(wide, cos, sin).to(heads.dtype)


class MLP(nn.Module):
    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.up_proj = nn.Linear(config.hidden_size, config.intermediate_size, bias=False)
        self.down_proj = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        down: Tensor = self.down_proj(swiglu(self.gate_proj(x), self.up_proj(x)))
        return down


class Layer(nn.Module):
    """The Llama layer whose attention reads token and hidden state side by side."""

    def __init__(self, config: DrafterConfig) -> None:
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.hidden_norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.mlp = MLP(config)

    def join(self, embedded: Tensor, hidden: Tensor) -> Tensor:
        """[rows, H] and [rows, H] → [rows, 2H], the token first."""
        return torch.cat((self.input_layernorm(embedded), self.hidden_norm(hidden)), dim=-1)

    def forward(self, hidden: Tensor, attended: Tensor) -> Tensor:
        """Residual stream after attention and MLP. hidden: [R, H]; attended: [R, heads, head_dim]."""
        hidden = hidden + self.self_attn.o_proj(attended.flatten(1))  # [R, H]
        out: Tensor = hidden + self.mlp(self.post_attention_layernorm(hidden))  # [R, H]
        return out


class Drafter(nn.Module):
    """Trained weights under their checkpoint names, beside the target's frozen embedding, which is not exported."""

    d2t: Tensor
    t2d: Tensor
    embedding: Tensor

    def __init__(self, config: DrafterConfig, vocabulary: DraftVocabulary, embedding: Tensor) -> None:
        """`embedding`: the target's, [V, H]. Raises ConfigError (from `vocabulary.require_size`) when the sizes disagree."""
        super().__init__()
        vocabulary.require_size(draft=config.draft_vocab_size, target=config.vocab_size)
        self.config = config
        features = len(config.feature_layers.hidden_states)
        self.fc = nn.Linear(features * config.hidden_size, config.hidden_size, bias=False)
        self.midlayer = Layer(config)
        self.norm = RMSNorm(config.hidden_size, config.rms_norm_eps)
        self.lm_head = nn.Linear(config.hidden_size, config.draft_vocab_size, bias=False)
        self.register_buffer("d2t", vocabulary.d2t)
        self.register_buffer("t2d", vocabulary.t2d)
        self.register_buffer("embedding", embedding, persistent=False)

    @property
    def vocabulary(self) -> DraftVocabulary:
        return DraftVocabulary.from_d2t(self.d2t, target_size=len(self.t2d))

    def forward(self, batch: Batch) -> Tensor:
        """Training-time test: the input of `lm_head` at each step and query row, [K, R, H].

        Step k's queries see step-0 keys causally and, of each later step up to k, only their own row's key.
        """
        attention = self.midlayer.self_attn
        blocks = plan_blocks(batch.query_rows, batch.spans)

        hidden = self.fc(batch.features.to(self.fc.weight.dtype)).to(self.norm.weight.dtype)  # [M, H]
        joined = self.midlayer.join(self._embed(batch.tokens), hidden)  # [M, 2H]
        first = attention.keys_values(joined, batch.positions)  # [M, kv_heads, head_dim] each
        positions = batch.positions[batch.query_rows]  # [R]
        hidden, joined = hidden[batch.query_rows], joined[batch.query_rows]  # [R, H], [R, 2H]

        own: list[tuple[Tensor, Tensor]] = []
        outputs = []
        for step in range(batch.steps):
            if step:
                joined = self.midlayer.join(self._embed(batch.step_tokens[step]), hidden)  # [R, 2H]
                own.append(attention.keys_values(joined, positions + step))
            hidden = self._layer(joined, hidden, positions + step, first, own, blocks)  # [R, H]
            outputs.append(self.norm(hidden))
        return torch.stack(outputs)

    def _layer(
        self,
        joined: Tensor,
        hidden: Tensor,
        positions: Tensor,
        first: tuple[Tensor, Tensor],
        own: Sequence[tuple[Tensor, Tensor]],
        blocks: Sequence[Block],
    ) -> Tensor:
        queries = self.midlayer.self_attn.queries(joined, positions)  # [R, heads, head_dim]
        layer_output: Tensor = self.midlayer(hidden, attend(queries, *first, own, blocks))
        return layer_output

    def _embed(self, tokens: Tensor) -> Tensor:
        return functional.embedding(tokens, self.embedding).to(self.norm.weight.dtype)
