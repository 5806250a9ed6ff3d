"""GPUs as the driver tells them, and as it does not."""

from types import SimpleNamespace

import pynvml
import pytest

from eagle3web.domain import gpus


def test_machine_without_a_driver_has_no_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent() -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_LIBRARY_NOT_FOUND)

    monkeypatch.setattr(pynvml, "nvmlInit", absent)
    assert gpus.gpus() == []


def test_gpu_tells_its_load_and_keeps_quiet_about_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    answers = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetCount": lambda: 1,
        "nvmlDeviceGetHandleByIndex": lambda index: index,
        "nvmlDeviceGetName": lambda handle: "NVIDIA H200",
        "nvmlDeviceGetMemoryInfo": lambda handle: SimpleNamespace(used=81 * 2**30, total=141 * 2**30),
        "nvmlDeviceGetUtilizationRates": refuse,
        "nvmlDeviceGetPowerUsage": lambda handle: 412_345,
        "nvmlDeviceGetTemperature": lambda handle, sensor: 61,
    }
    for name, answer in answers.items():
        monkeypatch.setattr(pynvml, name, answer)
    assert gpus.gpus() == [
        {
            "index": 0, "name": "NVIDIA H200", "utilisation_percent": None, "memory_used": 81 * 2**30,
            "memory_total": 141 * 2**30, "power_w": 412.3, "temperature_c": 61,
        }
    ]  # fmt: skip
