"""How busy processors were."""

import threading
from collections.abc import Iterator
from typing import NamedTuple

import psutil
import pytest

from eagle3web.domain.cpu import CpuMeter


class Times(NamedTuple):
    user: float
    system: float
    idle: float
    iowait: float = 0.0
    guest: float = 0.0


def told(monkeypatch: pytest.MonkeyPatch, *times: Times) -> None:
    looks: Iterator[Times] = iter(times)
    monkeypatch.setattr(psutil, "cpu_times", lambda: next(looks))


def test_percent_is_the_busy_share_since_the_last_look(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, Times(10, 5, 100), Times(13, 6, 104, 2), Times(13, 6, 114, 2))
    meter = CpuMeter()
    assert meter.percent() == 40.0
    assert meter.percent() == 0.0


def test_time_of_guests_is_not_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, Times(0, 0, 0), Times(5, 0, 5, guest=5))
    assert CpuMeter().percent() == 50.0


def test_no_time_no_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, Times(1, 1, 1), Times(1, 1, 1))
    assert CpuMeter().percent() is None


def test_threads_share_one_meter(monkeypatch: pytest.MonkeyPatch) -> None:
    told(monkeypatch, Times(0, 0, 0), Times(1, 0, 1), Times(2, 0, 2))
    meter, found = CpuMeter(), []
    for _ in range(2):
        thread = threading.Thread(target=lambda: found.append(meter.percent()))
        thread.start()
        thread.join()
    assert found == [50.0, 50.0]
