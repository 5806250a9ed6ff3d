"""Configs of several runs as one table: the keys that differ, and how many do not."""

from collections.abc import Sequence
from dataclasses import dataclass

from eagle3web.models import Run
from eagle3web.pages.configs import flat

ABSENT = ""


@dataclass(frozen=True)
class KeyRow:
    key: str
    values: list[str]
    """One for each run; ABSENT where its config has no such key."""
    differs: bool


@dataclass(frozen=True)
class ConfigDiff:
    rows: list[KeyRow]
    """Of all keys, in the order of the configs."""

    @property
    def different(self) -> list[KeyRow]:
        return [row for row in self.rows if row.differs]

    @property
    def same(self) -> int:
        return len(self.rows) - len(self.different)


def config_diff(runs: Sequence[Run]) -> ConfigDiff:
    """A key that only other stages have is no difference: what runs of different stages share is compared."""
    configs = [dict(flat(run.config)) for run in runs]
    known_to: dict[str, set[str]] = {}
    for run, config in zip(runs, configs, strict=True):
        for key in config:
            known_to.setdefault(key, set()).add(run.stage)
    rows = []
    for key, stages in known_to.items():
        values = [config.get(key, ABSENT) for config in configs]
        asked = [value for run, value in zip(runs, values, strict=True) if run.stage in stages]
        rows.append(KeyRow(key, values, differs=len(set(asked)) > 1))
    return ConfigDiff(rows)
