"""Several processes of one training on one host, without torchrun: the stage starts the others itself.

So the stage stays its supervisor's own child, which is told to stop, kept in one process group and killed as one. What
torchrun says in the environment is said here, and the processes find each other over the loopback. A peer ends with the
stage, whatever ends that; one that dies takes the stage along, with its name in the reason.
"""

import logging
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.errors import InterruptedRunError, PipelineError
from pipeline.lifeline import tie_to
from pipeline.stage import FAILED, FINISHED, INTERRUPTED

PEER_OF = "EAGLE3_PEER_OF"
"""Environment variable of a peer: pid of the stage that started it."""
GRACE_S = 60.0
"""For the peers to end behind the stage, and for the stage to notice by itself that one is gone."""
NOTICE_S = 5.0
"""From a connection that breaks to the end of the process behind it."""
log = logging.getLogger(__name__)


class Peers:
    """The processes of rank 1 and above. `lost` says which one ended too early, and how."""

    def __init__(self, folder: Path, size: int) -> None:
        """Start them. From the main thread: the kernel ends a peer with the thread that started it."""
        self.lost: str | None = None
        self._is_lost = threading.Event()
        self._done = threading.Event()
        self._processes = [
            subprocess.Popen(
                [sys.executable, "-u", "-m", "pipeline", "train", str(folder)],
                env=os.environ | {"RANK": str(rank), "LOCAL_RANK": str(rank), PEER_OF: str(os.getpid())},
                stdin=subprocess.DEVNULL,
            )
            for rank in range(1, size)
        ]
        for rank, process in enumerate(self._processes, start=1):
            threading.Thread(target=self._watch, args=(rank, process), name=f"peer {rank}", daemon=True).start()

    def close(self) -> None:
        """Wait until they have ended, and kill those that do not."""
        self._done.set()
        for process in self._processes:
            try:
                process.wait(0 if self.lost else GRACE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def why(self) -> str | None:
        """Which one is lost and how, after the stage failed to reach it; that may be a moment before its end is seen here."""
        self._is_lost.wait(NOTICE_S)
        return self.lost

    def _watch(self, rank: int, process: "subprocess.Popen[bytes]") -> None:
        code = process.wait()
        if self._done.is_set() or code in (FINISHED, INTERRUPTED):
            return
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        self.lost = f"process {rank + 1} of {len(self._processes) + 1} {how}; its last lines are in the log"
        self._is_lost.set()
        log.error("%s", self.lost)
        # Gloo raises in the stage; what waits for a GPU may wait for hours.
        if not self._done.wait(GRACE_S):
            os._exit(FAILED)


@contextmanager
def peers(folder: Path, size: int) -> Iterator[None]:
    """Be the first of `size` processes inside. Raises PipelineError when another one dies."""
    if size < 2 or "RANK" in os.environ:
        yield
        return
    told = {"WORLD_SIZE": str(size), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())}
    os.environ |= told | {"RANK": "0", "LOCAL_RANK": "0"}
    started = Peers(folder, size)
    try:
        yield
    except RuntimeError as error:
        if (lost := started.why()) is None:
            raise
        raise PipelineError(lost) from error
    finally:
        started.close()
        for name in (*told, "RANK", "LOCAL_RANK"):
            del os.environ[name]


def follow_stage() -> None:
    """In a peer: end with the stage. Does nothing in a process that torchrun started.

    Raises InterruptedRunError when the stage is gone already.
    """
    if stage := os.environ.get(PEER_OF):
        try:
            tie_to(int(stage))
        except InterruptedRunError as error:
            raise InterruptedRunError("the training's first process is gone") from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
