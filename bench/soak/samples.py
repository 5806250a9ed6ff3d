"""Memory and file descriptors of every process of a system, over time."""

import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil

WINDOW = 0.2
"""Share of the samples after warm-up that is compared: the first ones with the last ones."""
MEMORY_GROWTH = 0.05
FD_GROWTH = 4
"""More than this many more at the end than at the beginning are a leak: connections come and go."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one process used: at the beginning, after warm-up, and at the end. Medians."""

    name: str
    megabytes: tuple[float, float]
    """Resident."""
    fds: tuple[float, float]

    @property
    def growth(self) -> float:
        return self.megabytes[1] / self.megabytes[0] - 1

    @property
    def leaks(self) -> list[str]:
        """What grows that should not, in words."""
        memory = [f"{self.name} grew by {self.growth:.1%}"] if self.growth > MEMORY_GROWTH else []
        more = self.fds[1] - self.fds[0]
        return memory + ([f"{self.name} holds {more:.0f} more file descriptors"] if more > FD_GROWTH else [])


@dataclass
class Samples:
    """By process; `known` names those that were started by name, pid → name."""

    home: Path
    known: dict[int, str]
    _found: dict[tuple[str, int], list[tuple[float, int]]] = field(default_factory=lambda: defaultdict(list))

    def take(self) -> None:
        for process in psutil.process_iter():
            try:
                if name := self._name(process):
                    self._found[name, process.pid].append((process.memory_info().rss / 1e6, process.num_fds()))
            except psutil.Error:
                continue

    def usage(self, warm_up: float) -> list[Usage]:
        """Of the processes that lived all the time. `warm_up`: the share of samples that do not count."""
        longest = max(len(rows) for rows in self._found.values())
        whole = {key: rows for key, rows in self._found.items() if len(rows) >= 0.9 * longest}
        return [_usage(name, rows[int(len(rows) * warm_up) :]) for (name, _), rows in sorted(whole.items())]

    def _name(self, process: psutil.Process) -> str:
        """Such as `supervisor 3`; empty for what is not ours."""
        if process.pid in self.known:
            return self.known[process.pid]
        command = process.cmdline()
        if "supervise" in command and process.environ().get("EAGLE3_HOME") == str(self.home):
            return f"supervisor {command[command.index('supervise') + 1]}"
        folder = next((Path(word) for word in command if word.startswith(f"{self.home}/runs/")), None)
        return f"stage r{folder.parts[-3]}" if folder is not None else ""


def _usage(name: str, rows: Sequence[tuple[float, int]]) -> Usage:
    size = max(1, int(len(rows) * WINDOW))
    first, last = rows[:size], rows[-size:]
    memory, fds = ([statistics.median(row[n] for row in part) for part in (first, last)] for n in (0, 1))
    return Usage(name=name, megabytes=(memory[0], memory[1]), fds=(fds[0], fds[1]))
