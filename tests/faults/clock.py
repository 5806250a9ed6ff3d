"""A wall clock that jumps, for the processes of one system: a few lines of C between them and the C library."""

import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).parent / "start_hook" / "clock.c"


class Clock:
    def __init__(self, folder: Path) -> None:
        """Compile it into `folder`. Without a C compiler there is no clock to move, and `environment` is empty."""
        self._shift = folder / "clock"
        self.jump(0)
        self.environment: dict[str, str] = {}
        """For the processes whose clock this is."""
        compiler = shutil.which("cc")
        if compiler is not None:
            library = folder / "clock.so"
            subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True)
            self.environment = {"LD_PRELOAD": str(library), "EAGLE3_TEST_CLOCK": str(self._shift)}

    def jump(self, seconds: int) -> None:
        """Be so many seconds away from the true time, from now on."""
        # In place: the processes have mapped this very file.
        with self._shift.open("r+b" if self._shift.exists() else "wb", buffering=0) as file:
            file.write(struct.pack("=q", seconds))
