import torch
from torch.nn import functional

from pipeline.serving.embedded.rms_norm import RMSNorm


def test_it_is_torchs_own() -> None:
    generator = torch.Generator().manual_seed(0)
    # Rows so small that eps counts, and so large that it does not.
    x = torch.randn(6, 48, generator=generator) * torch.tensor([1e-4, 1e-3, 0.1, 1, 30, 5000])[:, None]
    weight = torch.rand(48, generator=generator)
    expected = functional.rms_norm(x, (48,), weight, 1e-5)
    assert torch.allclose(RMSNorm(weight, 1e-5)(x), expected, rtol=1e-5, atol=1e-7)


def test_a_half_precision_row_stays_one() -> None:
    x = torch.randn(2, 48, generator=torch.Generator().manual_seed(0)).bfloat16()
    found = RMSNorm(torch.ones(48).bfloat16(), 1e-5)(x)
    assert found.dtype == torch.bfloat16
    assert torch.allclose(found.float(), functional.rms_norm(x.float(), (48,), None, 1e-5), rtol=1e-2)
