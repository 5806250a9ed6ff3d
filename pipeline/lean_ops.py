"""Small operations, written so that they keep little memory and run on vectors.

RMSNorm and SwiGLU have hand-written gradients and keep their inputs for the backward pass and nothing else. Written with
plain operators, autograd keeps two to three further tensors of the same size for each call, and a training-time test of K
steps holds them all K times.
"""

import torch
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn import functional


def compute_dtype(tensor: Tensor) -> torch.dtype:
    """The dtype of matrix products: autocast's where it is on, else the tensor's own."""
    kind = tensor.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else tensor.dtype


def rms_norm(x: Tensor, weight: Tensor, eps: float) -> Tensor:
    """x / rms(x) · weight, x: [rows, size]; computed in float32 or wider, returned in the dtype of the next product."""
    normed: Tensor = _RMSNorm.apply(x, weight, eps, compute_dtype(x))  # type: ignore[no-untyped-call]
    return normed


def swiglu(gate: Tensor, up: Tensor) -> Tensor:
    """silu(gate) · up."""
    product: Tensor = _SwiGLU.apply(gate, up)  # type: ignore[no-untyped-call]
    return product


def argmax(x: Tensor, width: int = 64) -> Tensor:
    """First index of the largest element over the last dimension.

    `torch.argmax` looks at one element at a time on CPUs; maxima of blocks are vectorised, and leave one block to search.
    """
    if x.shape[-1] % width:
        return x.argmax(-1)
    blocks = x.view(*x.shape[:-1], -1, width)
    best = blocks.amax(-1).argmax(-1, keepdim=True)  # [..., 1]: the first block that holds the maximum
    inside = blocks.gather(-2, best[..., None].expand(*best.shape, width))  # [..., 1, width]
    index: Tensor = best * width + inside.argmax(-1)  # [..., 1]
    return index.squeeze(-1)


def product_by_rows(x: Tensor, y: Tensor) -> Tensor:
    """xᵀ y of [rows, a] and [rows, b], the sum over all rows of their outer products: [a, b], of which a is the smaller."""
    # oneDNN's bfloat16 products take a transposed first factor at half the speed of one that is laid out anew.
    return (x.T.contiguous() if x.dtype == torch.bfloat16 else x.T) @ y


class _RMSNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, x: Tensor, weight: Tensor, eps: float, dtype: torch.dtype) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        inverse = torch.rsqrt((wide * wide).mean(-1, keepdim=True) + eps)  # [rows, 1]
        ctx.save_for_backward(x, weight, inverse)
        return (wide * inverse).mul_(weight).to(dtype)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, weight, inverse = ctx.saved_tensors  # type: ignore[attr-defined]
        unit, grad = x * inverse, grad.to(inverse.dtype)
        along = grad * unit
        d_weight = along.sum(0).to(weight.dtype)
        if not ctx.needs_input_grad[0]:  # type: ignore[attr-defined]
            return None, d_weight, None, None
        mean = along.mul_(weight).mean(-1, keepdim=True)
        d_x = (grad * weight).addcmul_(unit, mean, value=-1).mul_(inverse)
        return d_x.to(x.dtype), d_weight, None, None


class _SwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, gate: Tensor, up: Tensor) -> Tensor:
        ctx.save_for_backward(gate, up)
        return functional.silu(gate).mul_(up)

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor, Tensor]:
        gate, up = ctx.saved_tensors  # type: ignore[attr-defined]
        d_up = functional.silu(gate).mul_(grad)
        d_gate: Tensor = torch.ops.aten.silu_backward(grad * up, gate)
        return d_gate, d_up
