"""How busy this machine's processors were since the last look, whichever thread looked: psutil keeps one look a thread."""

import threading

import psutil


class CpuMeter:
    """Percent of all processors between two looks; the first one looks back to when the meter was made."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = _seconds()

    def percent(self) -> float | None:
        """None when no time has passed that could be measured."""
        with self._lock:
            (busy, whole), (busy_before, whole_before) = _seconds(), self._last
            if whole <= whole_before:
                return None
            self._last = busy, whole
        return round(min(100.0, max(0.0, 100 * (busy - busy_before) / (whole - whole_before))), 1)


def _seconds() -> tuple[float, float]:
    """Busy ones and all, summed over the processors, since the start of the machine."""
    times = psutil.cpu_times()
    # On Linux the time of guests is counted in user and nice already.
    whole = sum(times) - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
    return whole - times.idle - getattr(times, "iowait", 0.0), whole
