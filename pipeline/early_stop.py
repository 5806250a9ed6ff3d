"""A stop that is asked for before a stage can act on it: a process that still loads packages would die without a word.

Until the stage's own handlers stand, the wish is remembered; then it is handed over to them.
"""

import os
import signal
import threading
import time
from types import FrameType

SIGNALS = {signal.SIGTERM: "stopped by SIGTERM", signal.SIGINT: "stopped by Ctrl-C"}
LOOK_S = 0.05

_heard: list[str] = []


def listen() -> None:
    """Remember from now on. Call it in the main thread, before anything that takes long is imported."""
    for number in SIGNALS:
        signal.signal(number, _remember)


def asked() -> str | None:
    """Why to stop, in words, if somebody has asked; the first of several."""
    return _heard[0] if _heard else None


def _remember(number: int, _frame: FrameType | None) -> None:
    known = signal.Signals(number)
    if SIGNALS[known] not in _heard:
        _heard.append(SIGNALS[known])
        threading.Thread(target=_hand_over, args=(known,), name=f"hand over {known.name}", daemon=True).start()


def _hand_over(number: signal.Signals) -> None:
    """Send the signal again once somebody else handles it."""
    while (handler := signal.getsignal(number)) is _remember:
        time.sleep(LOOK_S)
    if callable(handler):
        os.kill(os.getpid(), number)
