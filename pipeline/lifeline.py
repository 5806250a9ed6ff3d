"""A stage ends with its supervisor: the kernel kills it when the supervisor dies, however that dies."""

import ctypes
import os
import signal
import sys

from pipeline.errors import InterruptedRunError

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36


def tie_to(supervisor: int, *, by: signal.Signals = signal.SIGKILL) -> None:
    """Tie this process to its parent `supervisor`, whose end sends it a signal. Raises InterruptedRunError when that is gone.

    The kernel's signal is Linux's own; elsewhere the end of the control input and `is_cut` have to do.
    """
    _prctl(PR_SET_PDEATHSIG, by)
    # It may have died between our start and the call above, which tells nothing of the past.
    if is_cut(supervisor):
        raise InterruptedRunError("the supervisor is gone")


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends, also of one that left our session; on Linux only."""
    _prctl(PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), f"prctl({option}) failed")


def is_cut(supervisor: int) -> bool:
    """Whether the supervisor is not our parent any more."""
    return os.getppid() != supervisor
