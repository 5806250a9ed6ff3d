import pytest
import torch

from pipeline.training.config import OptimizerConfig
from pipeline.training.schedule import Limits, factor, make_schedule

CONFIG = OptimizerConfig(learning_rate=1.0, warmup_share=0.2, final_share=0.1)


def rates(limits: Limits, steps: int) -> list[float]:
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=CONFIG.learning_rate)
    schedule = make_schedule(optimizer, CONFIG, limits)
    found = []
    for _ in range(steps):
        found.append(float(schedule.get_last_lr()[0]))
        optimizer.step()
        schedule.step()
    return found


def test_rate_warms_up_then_follows_a_cosine_to_its_final_share() -> None:
    found = rates(Limits(steps=10), 10)
    assert found[:2] == pytest.approx([0.5, 1.0])
    assert found[5] == pytest.approx(0.1 + 0.9 / 2)
    assert found[-1] == pytest.approx(0.1)
    assert found[2:] == sorted(found[2:], reverse=True)


def test_factor_without_a_warm_up_begins_at_the_top() -> None:
    assert factor(OptimizerConfig(warmup_share=0.0), 1e-9) == pytest.approx(1.0)


def test_minutes_drive_the_rate_and_the_end_when_they_are_the_tighter_limit() -> None:
    limits = Limits(steps=1000, minutes=2)
    assert not limits.reached(10)
    limits.elapsed_s = 60
    assert limits.progress(9) == 0.5
    assert limits.expected_steps(40) == 80
    assert limits.remaining_s(40, 1.5) == 60
    limits.elapsed_s = 120
    assert limits.progress(9) == 1.0
    assert limits.reached(10)


def test_steps_are_the_limit_when_no_minutes_are_set() -> None:
    limits = Limits(steps=20)
    assert (limits.expected_steps(5), limits.remaining_s(5, 2.0)) == (20, 30.0)
    assert (limits.reached(19), limits.reached(20)) == (False, True)
