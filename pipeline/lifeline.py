"""A stage ends with its supervisor: the kernel kills it when the supervisor dies, however that dies."""

import ctypes
import os
import signal
import sys

from pipeline.errors import InterruptedRunError

PR_SET_PDEATHSIG = 1


def tie_to(supervisor: int) -> None:
    """Tie this process to its parent `supervisor`. Raises InterruptedRunError when that is gone already.

    The kernel's signal is Linux's own; elsewhere the end of the control input and `is_cut` have to do.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG) failed")
    # It may have died between our start and the call above, which tells nothing of the past.
    if is_cut(supervisor):
        raise InterruptedRunError("the supervisor is gone")


def is_cut(supervisor: int) -> bool:
    """Whether the supervisor is not our parent any more."""
    return os.getppid() != supervisor
