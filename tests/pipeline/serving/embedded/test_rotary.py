import torch

from pipeline import rope
from pipeline.serving.embedded.rotary import Rotary, rotate


def test_queries_and_keys_turn_and_values_do_not() -> None:
    inverse, factor = rope.frequencies(rope.RopeConfig(10_000.0), 8)
    positions = torch.tensor([0, 3, 11])
    cos, sin = rope.rotations(torch.arange(12), inverse, factor, torch.float32)
    rotary = Rotary(cos[:, 0].repeat(1, 2), sin[:, 0].repeat(1, 2), turned=3, heads=4)
    rows = torch.randn(3, 4, 8, generator=torch.Generator().manual_seed(0))
    found = rotate(rows, rotary.at(positions))
    assert torch.allclose(found[:, :3], rope.rotate(rows[:, :3], cos[positions], sin[positions]), atol=1e-6)
    assert torch.equal(found[:, 3:], rows[:, 3:])
