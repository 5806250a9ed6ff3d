from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, LlamaConfig

from pipeline.extraction.llama_target import PIECE, LlamaTarget
from pipeline.extraction.transformers_target import TransformersTarget
from pipeline.feature_layers import FeatureLayers

LAYERS = FeatureLayers.default(7).hidden_states


def model() -> Any:  # noqa: ANN401  (a model of transformers)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=192,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=7,
        num_attention_heads=4,
        num_key_value_heads=2,
        initializer_range=0.2,
    )
    return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()  # type: ignore[no-untyped-call]


def documents(*lengths: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    return [torch.randint(192, (length,), generator=generator) for length in lengths]


@pytest.mark.slow
def test_states_are_those_of_transformers_also_across_pieces() -> None:
    batch = documents(20, PIECE + 37, 1)
    plain = TransformersTarget(model(), LAYERS)
    fast = LlamaTarget(model(), LAYERS, max_length=PIECE + 37)
    for expected, found in zip(plain.read(batch), fast.read(batch), strict=True):
        torch.testing.assert_close(found.features, expected.features, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(found.last_hidden, expected.last_hidden, rtol=1e-4, atol=1e-4)
        assert torch.equal(fast.best_tokens(found.last_hidden), plain.best_tokens(found.last_hidden))


def test_documents_do_not_depend_on_what_was_read_before() -> None:
    target = LlamaTarget(model(), LAYERS, max_length=64)
    one, other = documents(40, 12)
    together, alone = target.read([one, other])[1], target.read([other])[0]
    assert torch.equal(together.features, alone.features)


def test_each_piece_says_that_it_begins() -> None:
    begun: list[None] = []
    target = LlamaTarget(model(), LAYERS, max_length=2 * PIECE)
    target.on_layer = lambda: begun.append(None)
    target.read(documents(PIECE + 1, 3))
    assert len(begun) == 3
