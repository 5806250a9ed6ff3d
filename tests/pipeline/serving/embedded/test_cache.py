"""Slots grow, move and are cleared apart from each other, and take memory only as they fill."""

from pathlib import Path

import torch

from pipeline.serving.embedded.cache import SlotCache, bytes_per_token
from pipeline.serving.embedded.draft import Draft


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


def filled(*lengths: int) -> SlotCache:
    """Each slot holds 1, 2, 3, … in both layers."""
    cache = new_cache()
    for slot, length in enumerate(lengths):
        for layer in range(2):
            rows = torch.arange(1.0, length + 1)[:, None, None].expand(-1, 2, 4)
            cache.append(layer, slot, rows, -rows)
        cache.grow(slot, length)
    return cache


def held(cache: SlotCache, slot: int, layer: int = 0, count: int | None = None) -> list[float]:
    keys: list[float] = cache.layers[layer][0, slot, : cache.lengths[slot] if count is None else count, 0, 0].tolist()
    return keys


def test_a_step_writes_each_slot_at_its_own_length() -> None:
    cache = filled(3, 1)
    plan = cache.plan([Draft((5,)), Draft((6,))])
    held = cache.held(plan)
    cache.write(0, plan, torch.stack((states(2, 5.0), states(2, 6.0))))
    assert plan.positions.tolist() == [3, 1]
    assert [side[:, 0, :, 0].tolist() for side in held[0]] == [
        [[1, 2, 3, 5], [1, 5, 0, 0]],
        [[-1, -2, -3, 6], [-1, 6, 0, 0]],
    ]
    assert [side[:, 0, :, 0].tolist() for side in held[1]] == [
        [[1, 2, 3, 0], [1, 0, 0, 0]],
        [[-1, -2, -3, 0], [-1, 0, 0, 0]],
    ]


def test_kept_nodes_close_up_and_the_rest_is_written_over() -> None:
    cache = filled(2)
    plan = cache.plan([Draft((9, 8, 7, 6), (-1, 0, 0, 2))])
    rows = torch.arange(10.0, 14.0)[:, None, None].expand(-1, 2, 4)
    for layer in range(2):
        cache.write(layer, plan, torch.stack((rows, rows)))
    cache.keep(0, (0, 2, 3))
    assert [held(cache, 0, layer) for layer in range(2)] == [[1, 2, 10, 12, 13]] * 2
    cache.keep(0, ())
    cache.append(0, 0, states(1, 20.0), states(1, 20.0))
    cache.grow(0, 1)
    assert held(cache, 0) == [1, 2, 10, 12, 13, 20]


def test_a_chain_is_kept_without_moving_anything() -> None:
    cache = filled(2)
    before = cache.layers[0].clone()
    cache.plan([Draft((9, 8, 7))])
    cache.keep(0, range(2))
    assert cache.lengths[0] == 4
    assert torch.equal(cache.layers[0], before)


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
