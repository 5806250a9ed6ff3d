"""Run a command that ends with the process that started it, however that one ends: `python -m pipeline.tied PID COMMAND…`."""

import os
import sys

from pipeline.lifeline import tie_to


def main() -> None:
    parent, *command = sys.argv[1:]
    # The tie to the parent outlives the exec.
    tie_to(int(parent))
    os.execvp(command[0], command)  # noqa: S606  (a list of arguments, and no shell)


if __name__ == "__main__":
    main()
