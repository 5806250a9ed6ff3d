import random
from pathlib import Path

import torch
from torch import nn

from pipeline.training_state import DataPosition, capture_state, restore_state


def setup() -> tuple[nn.Linear, torch.optim.AdamW, torch.optim.lr_scheduler.LambdaLR]:
    torch.manual_seed(0)
    random.seed(0)
    model = nn.Linear(5, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    return model, optimizer, torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step))


def steps(model: nn.Linear, optimizer: torch.optim.AdamW, scheduler: torch.optim.lr_scheduler.LambdaLR, count: int) -> None:
    for _ in range(count):
        optimizer.zero_grad()
        torch.autograd.backward(model(torch.randn(4, 5) * random.random()).square().sum())
        optimizer.step()
        scheduler.step()


def test_resumed_steps_equal_uninterrupted_ones_bit_for_bit(tmp_path: Path) -> None:
    whole = setup()
    steps(*whole, 20)

    first = setup()
    steps(*first, 10)
    position = DataPosition(epoch=1, batch=7, step=10, tokens=123)
    torch.save(capture_state(first[1], first[2], position), tmp_path / "state.pt")
    weights = {name: tensor.clone() for name, tensor in first[0].state_dict().items()}

    second = setup()
    second[0].load_state_dict(weights)
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    assert restore_state(state, second[1], second[2]) == position
    steps(*second, 10)
    assert second[2].get_last_lr() == whole[2].get_last_lr()
    for ours, theirs in zip(second[0].parameters(), whole[0].parameters(), strict=True):
        assert torch.equal(ours, theirs)
