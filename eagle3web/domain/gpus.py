"""What each NVIDIA GPU of this machine does now, as its driver says; nothing where there is no driver."""

from collections.abc import Callable
from typing import Any

import pynvml


def gpus() -> list[dict[str, Any]]:
    """By index: name, utilisation_percent, memory_used, memory_total (bytes), power_w, temperature_c.

    A number that a GPU does not tell is None. Without a driver, or while it does not answer, there are no GPUs.
    """
    try:
        pynvml.nvmlInit()  # counts its calls: after the first one it costs nothing
        return [_gpu(index) for index in range(pynvml.nvmlDeviceGetCount())]
    except pynvml.NVMLError:
        return []


def _gpu(index: int) -> dict[str, Any]:
    handle = pynvml.nvmlDeviceGetHandleByIndex(index)
    memory = _told(pynvml.nvmlDeviceGetMemoryInfo, handle)
    utilisation = _told(pynvml.nvmlDeviceGetUtilizationRates, handle)
    milliwatts = _told(pynvml.nvmlDeviceGetPowerUsage, handle)
    return {
        "index": index,
        "name": _told(pynvml.nvmlDeviceGetName, handle) or "GPU",
        "utilisation_percent": utilisation and utilisation.gpu,
        "memory_used": memory and memory.used,
        "memory_total": memory and memory.total,
        "power_w": milliwatts and round(milliwatts / 1000, 1),
        "temperature_c": _told(pynvml.nvmlDeviceGetTemperature, handle, pynvml.NVML_TEMPERATURE_GPU),
    }


def _told(question: Callable[..., Any], *arguments: Any) -> Any:  # noqa: ANN401  (what the driver answers)
    """The driver's answer; None where it does not tell, as under MIG."""
    try:
        return question(*arguments)
    except pynvml.NVMLError:
        return None
