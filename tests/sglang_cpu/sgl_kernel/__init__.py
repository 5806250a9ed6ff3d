"""The part of `sgl_kernel` that SGLang 0.5.23 needs to serve Llama-like models with EAGLE-3 drafts on a CPU, in plain PyTorch.

Names and arguments are those by which SGLang calls them. Every other name can be imported, and says so when it is called.
"""

from collections.abc import Callable
from typing import Any, NoReturn

import torch

from .attention import decode_attention_cpu, extend_attention_cpu
from .cache_rows import (
    assign_draft_cache_locs_contiguous_cpu,
    assign_extend_cache_locs_cpu,
    assign_req_to_token_pool_cpu,
    build_draft_decode_metadata_cpu,
    copy_all_layer_kv_cache_cpu,
)
from .drafts import (
    build_tree_kernel_efficient_cpu,
    fill_accept_out_cache_loc_cpu,
    fill_bonus_tokens_cpu,
    rotate_input_ids_cpu,
    verify_tree_greedy_cpu,
)

__all__ = [
    "assign_draft_cache_locs_contiguous_cpu",
    "assign_extend_cache_locs_cpu",
    "assign_req_to_token_pool_cpu",
    "build_draft_decode_metadata_cpu",
    "build_tree_kernel_efficient_cpu",
    "copy_all_layer_kv_cache_cpu",
    "decode_attention_cpu",
    "extend_attention_cpu",
    "fill_accept_out_cache_loc_cpu",
    "fill_bonus_tokens_cpu",
    "rotate_input_ids_cpu",
    "verify_tree_greedy_cpu",
]
__version__ = "0.4.10+plain.torch"

# SGLang looks these two up as operators of torch.
operators: Any = torch.ops.sgl_kernel
operators.decode_attention_cpu = decode_attention_cpu
operators.extend_attention_cpu = extend_attention_cpu


def __getattr__(name: str) -> Callable[..., Any]:
    if name.startswith("__"):
        raise AttributeError(name)

    def absent(*_values: object, **_keywords: object) -> NoReturn:
        raise NotImplementedError(f"sgl_kernel.{name} has no stand-in for CPUs; see tests/sglang_cpu/README.md")

    return absent
