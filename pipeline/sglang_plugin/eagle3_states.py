"""SGLang's side of an extraction: the hidden states of a prompt go to a file instead of into the answer's JSON.

SGLang loads this as one of its general plugins (`sglang.srt.plugins`), in each of its processes; it runs in SGLang's
environment and imports nothing of ours. A server that captures EAGLE-3's layers (--enable-return-aux-hidden-states) has the
states of a prompt as one tensor, and would write them as decimal numbers: 300 kB a token for a width of 7,168. Here they are
kept as they are. EAGLE3_STATES names the folder; without it nothing is changed.

FOLDER/RID.safetensors   `features` [T, 3 H] and `last_hidden` [T, H], after the final norm; there when the answer is.

A server must read each prompt in one piece: SGLang keeps the states of the last piece alone.
"""

import os
import re
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

FOLDER = "EAGLE3_STATES"
RID = re.compile(r"eagle3-[0-9a-f]{32}")
"""Requests that are ours; a name that came over HTTP becomes the name of a file."""
WHERE = "sglang.srt.managers.scheduler_components.batch_result_processor.SchedulerBatchResultProcessor"


def register() -> None:
    """Entry point: called by SGLang before it starts."""
    if FOLDER not in os.environ:
        return
    from sglang.srt.plugins.hook_registry import HookRegistry, HookType  # noqa: PLC0415  (only SGLang's environment has it)

    HookRegistry.register(f"{WHERE}._append_prefill_hidden_states", keep, HookType.AROUND)


def keep(original: Any, processor: Any, **told: Any) -> Any:  # noqa: ANN401  (SGLang's method, itself, and its arguments)
    """Write the states of one prefill; the offset of the next request's rows, as the original gives it."""
    request, output = told["req"], told["logits_output"]
    if not RID.fullmatch(str(request.rid)) or output.last_hidden_states is None:
        return original(processor, **told)
    start = told["hidden_state_offset"]
    end: int = start + told["extend_input_len"]
    if told.get("store", True) and _is_first_rank():
        _write(request.rid, features=output.hidden_states[start:end], last_hidden=output.last_hidden_states[start:end])
    return end


def _write(rid: str, **states: Any) -> None:
    # Whoever waits reads nothing before the answer is there, so it may be written in place.
    path = Path(os.environ[FOLDER]) / f"{rid}.safetensors"
    save_file({name: rows.detach().to("cpu", copy=True).contiguous() for name, rows in states.items()}, path)


def _is_first_rank() -> bool:
    """Each rank of a tensor-parallel server has the same states."""
    from sglang.srt.runtime_context import get_parallel  # noqa: PLC0415  (as above)

    return bool(get_parallel().tp_rank == 0)
