"""A drafter small enough to check by hand, beside a made-up target: seeded, so that every test sees the same numbers."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pipeline.batching import Document
from pipeline.drafter_config import DrafterConfig
from pipeline.feature_layers import FeatureLayers
from pipeline.model import Drafter
from pipeline.rope import RopeConfig
from pipeline.teacher import Teacher
from pipeline.vocab import DraftVocabulary

CONFIG = DrafterConfig(
    hidden_size=24,
    intermediate_size=40,
    num_attention_heads=6,
    num_key_value_heads=2,
    head_dim=8,
    vocab_size=50,
    draft_vocab_size=20,
    max_position_embeddings=512,
    rms_norm_eps=1e-5,
    rope=RopeConfig(10_000.0),
    feature_layers=FeatureLayers((2, 4, 6)),
    bos_token_id=1,
    eos_token_id=2,
)


def vocabulary(config: DrafterConfig = CONFIG) -> DraftVocabulary:
    """Every second token and a few more: never the identity."""
    ids = torch.randperm(config.vocab_size, generator=torch.Generator().manual_seed(5))[: config.draft_vocab_size]
    return DraftVocabulary(ids.sort().values, config.vocab_size)


@dataclass(frozen=True)
class Tiny:
    config: DrafterConfig
    drafter: Drafter
    head: Tensor
    teacher: Teacher


def tiny(config: DrafterConfig = CONFIG, *, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tiny:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int, scale: float = 1.0) -> Tensor:
        return (torch.randn(*shape, generator=generator, dtype=torch.float64) * scale).to(dtype)

    head = normal(config.vocab_size, config.hidden_size, scale=0.5)
    drafter = Drafter(config, vocabulary(config), normal(config.vocab_size, config.hidden_size)).to(dtype)
    for name, weight in drafter.named_parameters():
        fresh = normal(*weight.shape, scale=0.3)
        weight.data.copy_(1 + fresh if weight.dim() == 1 else fresh)
        assert name in drafter.state_dict()
    return Tiny(config, drafter, head, Teacher(head, vocabulary(config)))


def document(length: int, answer: tuple[int, int], *, seed: int, config: DrafterConfig = CONFIG, **changes: object) -> Document:
    """`length` tokens of which `answer[0]` … `answer[1] − 1` were generated, with float64 states."""
    generator = torch.Generator().manual_seed(seed)
    loss_mask = torch.zeros(length, dtype=torch.bool)
    loss_mask[slice(*answer)] = True
    features = len(config.feature_layers.hidden_states) * config.hidden_size
    made = Document(
        token_ids=torch.randint(config.vocab_size, (length,), generator=generator),
        loss_mask=loss_mask,
        features=torch.randn(length, features, generator=generator, dtype=torch.float64),
        last_hidden=torch.randn(length, config.hidden_size, generator=generator, dtype=torch.float64),
        dataset="B1_tiny",
        name=f"prompt-{seed}",
    )
    return replace(made, **changes)  # type: ignore[arg-type]
