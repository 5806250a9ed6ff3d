from pathlib import Path

import pytest
import torch

from pipeline.errors import ConfigError
from pipeline.training.hardware import peak_memory, pick_device, pick_precision

CPU = torch.device("cpu")


def test_device_that_is_not_there_is_refused() -> None:
    with pytest.raises(ConfigError, match="device 'cuda:99' is not there"):
        pick_device("cuda:99")
    with pytest.raises(ConfigError, match="device 'gpu'"):
        pick_device("gpu")


def test_precision_is_what_was_asked_for() -> None:
    assert pick_precision("float32", CPU) == torch.float32
    assert pick_precision("bfloat16", CPU) == torch.bfloat16


def test_auto_takes_half_precision_where_the_processor_multiplies_it() -> None:
    flags = Path("/proc/cpuinfo").read_text()
    fast = "avx512_bf16" in flags or "amx_bf16" in flags
    assert pick_precision("auto", CPU) == (torch.bfloat16 if fast else torch.float32)


def test_peak_memory_of_a_process_is_more_than_nothing() -> None:
    assert peak_memory(CPU) > 10 << 20
