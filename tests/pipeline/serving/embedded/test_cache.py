"""Slots grow, move and are cleared apart from each other, and take memory only as they fill."""

from pathlib import Path

import torch

from pipeline.serving.embedded.cache import SlotCache, bytes_per_token


def new_cache(slots: int = 3, context: int = 8) -> SlotCache:
    return SlotCache(
        layers=2, slots=slots, context=context, kv_heads=2, head_dim=4, dtype=torch.float32, device=torch.device("cpu")
    )


def states(tokens: int, value: float) -> torch.Tensor:
    return torch.full((tokens, 2, 4), value)


def test_append_returns_all_tokens_of_the_slot() -> None:
    cache = new_cache()
    cache.append(0, 1, states(2, 1.0), states(2, -1.0))
    cache.grow(1, 2)
    block = cache.append(0, 1, states(1, 2.0), states(1, -2.0))
    assert block[:, :, 0, 0].tolist() == [[1.0, 1.0, 2.0], [-1.0, -1.0, -2.0]]
    assert cache.lengths == [0, 2, 0]


def test_a_step_writes_each_slot_at_its_own_length() -> None:
    cache = new_cache()
    for slot, length in enumerate((3, 1)):
        cache.append(0, slot, states(length, 1.0), states(length, 1.0))
        cache.grow(slot, length)
    positions, longest = cache.begin_step(2)
    cache.append_step(0, torch.stack((states(2, 5.0), states(2, 6.0))))
    assert (positions.tolist(), longest) == ([3, 1], 4)
    assert cache.layers[0][0, :2, :4, 0, 0].tolist() == [[1.0, 1.0, 1.0, 5.0], [1.0, 5.0, 0.0, 0.0]]
    assert cache.layers[0][1, :2, :4, 0, 0].tolist() == [[1.0, 1.0, 1.0, 6.0], [1.0, 6.0, 0.0, 0.0]]


def test_move_carries_all_layers_over() -> None:
    cache = new_cache()
    for layer in range(2):
        cache.append(layer, 2, states(3, layer + 1.0), states(3, 9.0))
    cache.grow(2, 3)
    cache.move(2, 0)
    assert cache.lengths == [3, 0, 0]
    assert [layer[0, 0, :3, 0, 0].tolist() for layer in cache.layers] == [[1.0] * 3, [2.0] * 3]


def test_an_unused_cache_takes_no_memory() -> None:
    before = resident_bytes()
    cache = new_cache(slots=64, context=100_000)
    cache.append(0, 63, states(10, 1.0), states(10, 1.0))
    assert cache.layers[0].nbytes > 400e6
    assert resident_bytes() - before < 20e6


def test_bytes_per_token_counts_keys_and_values_of_all_layers() -> None:
    assert bytes_per_token(layers=30, kv_heads=3, head_dim=64, dtype=torch.float32) == 46_080


def resident_bytes() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096
