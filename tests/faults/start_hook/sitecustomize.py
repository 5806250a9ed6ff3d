"""Python's own start-up hook (a folder on PYTHONPATH): writes and syncs take as long as a file says, in seconds.

For processes that are told of the file by EAGLE3_TEST_WRITE_DELAY. A stand-in for a slow disk that needs no right to make one.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

_file = os.environ.get("EAGLE3_TEST_WRITE_DELAY")


def _delay() -> float:
    try:
        return float(Path(_file or "").read_text() or 0)
    except (OSError, ValueError):
        return 0.0


def _slowed(call: Callable[..., Any]) -> Callable[..., Any]:
    def slow(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401  (whatever the call takes and gives)
        if seconds := _delay():
            time.sleep(seconds)
        return call(*args, **kwargs)

    return slow


if _file:
    os.write = _slowed(os.write)
    os.fsync = _slowed(os.fsync)
    os.replace = _slowed(os.replace)
