import pytest
import torch

from pipeline.errors import ConfigError
from pipeline.objectives import Drafted, Kind, Objective


def distributions() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(4, 3, 9, generator=generator, dtype=torch.float64).requires_grad_()
    p = torch.randn(4, 1, 9, generator=generator, dtype=torch.float64).softmax(-1)
    return logits, p


@pytest.mark.parametrize("kind", ["cross_entropy", "kl", "lk", "lk_kl"])
def test_gradient_is_that_of_the_value(kind: Kind) -> None:
    logits, p = distributions()
    objective = Objective(kind, kl_weight=0.3)
    _, gradient = objective.value_and_gradient(Drafted.of(logits.detach()), p)

    def value(z: torch.Tensor) -> torch.Tensor:
        q = z.softmax(-1)
        alpha = torch.minimum(p, q).sum(-1)
        divergence = (p * (p.log() - q.log())).sum(-1)
        mixed = 0.3 * divergence + 0.7 * (1 - alpha)
        values = {"cross_entropy": -(p * q.log()).sum(-1), "kl": divergence, "lk": -alpha.log(), "lk_kl": mixed}
        return values[kind]

    (expected,) = torch.autograd.grad(value(logits).sum(), logits)
    torch.testing.assert_close(gradient, expected)
    torch.testing.assert_close(objective.value_and_gradient(Drafted.of(logits.detach()), p)[0], value(logits).detach())


def test_log_norm_is_exact_where_one_logit_stands_alone() -> None:
    drafted = Drafted.of(torch.tensor([[[80.0, -80.0, 0.0], [0.0, 0.0, 0.0]]]))
    torch.testing.assert_close(drafted.log_norm, torch.tensor([[80.0, 1.0986123]]))
    assert drafted.best.tolist() == [[0, 0]]


@pytest.mark.parametrize("kind", ["kl", "lk", "lk_kl"])
def test_value_is_zero_where_the_drafter_is_right(kind: Kind) -> None:
    _, p = distributions()
    value, _ = Objective(kind).value_and_gradient(Drafted.of(p.log()), p)
    torch.testing.assert_close(value, torch.zeros_like(value))


def test_distributions_that_do_not_meet_give_finite_numbers() -> None:
    p = torch.tensor([[[1.0, 0.0]]])
    value, gradient = Objective("lk").value_and_gradient(Drafted.of(torch.tensor([[[-1000.0, 0.0]]])), p)
    assert torch.isfinite(value).all()
    assert torch.isfinite(gradient).all()


def test_weight_outside_its_range_is_refused() -> None:
    with pytest.raises(ConfigError, match="kl_weight"):
        Objective("lk_kl", kl_weight=1.5)
