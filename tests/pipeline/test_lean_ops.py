import torch
from torch.nn import functional

from pipeline.lean_ops import argmax, rms_norm, swiglu


def normal(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).requires_grad_()


def test_rms_norm_equals_torch_and_its_gradient() -> None:
    x, weight = normal(5, 12), normal(12, seed=1)
    torch.testing.assert_close(rms_norm(x, weight, 1e-5), functional.rms_norm(x, (12,), weight, 1e-5))
    assert torch.autograd.gradcheck(lambda a, b: rms_norm(a, b, 1e-5), (x, weight))


def test_rms_norm_of_a_frozen_input_trains_its_weight() -> None:
    x, weight = normal(5, 12).detach(), normal(12, seed=1)
    assert torch.autograd.gradcheck(lambda b: rms_norm(x, b, 1e-5), (weight,))


def test_rms_norm_returns_the_dtype_of_the_next_product() -> None:
    x, weight = torch.ones(2, 4), torch.ones(4)
    assert rms_norm(x, weight, 1e-5).dtype == torch.float32
    with torch.autocast("cpu", torch.bfloat16):
        assert rms_norm(x, weight, 1e-5).dtype == torch.bfloat16


def test_swiglu_equals_torch_and_its_gradient() -> None:
    gate, up = normal(5, 12), normal(5, 12, seed=1)
    torch.testing.assert_close(swiglu(gate, up), functional.silu(gate) * up)
    assert torch.autograd.gradcheck(swiglu, (gate, up))


def test_argmax_takes_the_first_of_equals() -> None:
    x = torch.zeros(3, 192)
    x[0, [70, 100, 191]] = 5.0
    x[1, [3, 64]] = 5.0
    assert argmax(x).tolist() == [70, 3, 0]


def test_argmax_equals_torch() -> None:
    for shape in ((7, 128), (2, 3, 640), (4, 100)):
        x = normal(*shape).detach()
        assert torch.equal(argmax(x), x.argmax(-1))
