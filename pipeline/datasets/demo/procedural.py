"""Reasoning puzzles that reasoning-gym makes up, the same ones each time."""

import importlib
import sys
from collections.abc import Iterator
from importlib.machinery import PathFinder
from types import ModuleType

from pipeline.datasets.demo.source import Row
from pipeline.errors import ConfigError

PACKAGE = "reasoning_gym"
SEED = 42
EACH = 200
"""Puzzles of each kind."""

KINDS = {
    "gsm_symbolic": "arithmetic.gsm_symbolic.gsm_symbolic",
    "chain_sum": "arithmetic.chain_sum",
    "leg_counting": "arithmetic.leg_counting",
    "calendar_arithmetic": "arithmetic.calendar_arithmetic",
    "syllogism": "logic.syllogisms",
    "knights_knaves": "logic.knights_knaves",
    "aiw": "logic.aiw",
    "family_relationships": "graphs.family_relationships",
    "letter_counting": "algorithmic.letter_counting",
    "spell_backward": "algorithmic.spell_backward",
}
"""Name of a puzzle → module that makes it."""


def reasoning() -> Iterator[Row]:
    """Puzzles of all kinds, one of each in turn."""
    _make_importable()
    for module in KINDS.values():
        importlib.import_module(f"{PACKAGE}.{module}")
    factory = importlib.import_module(f"{PACKAGE}.factory")
    puzzles = {name: factory.create_dataset(name, size=EACH, seed=SEED) for name in KINDS}
    for i in range(EACH):
        for name, made in puzzles.items():
            yield {"id": f"{name}-{i}", "prompt": made[i]["question"]}


def _make_importable() -> None:
    """Put the packages in place without running their `__init__`: those import all hundred kinds of puzzles and everything
    that any of them needs, a C compiler included.
    """
    path: list[str] | None = None
    for name in (PACKAGE, *sorted({f"{PACKAGE}.{module.split('.')[0]}" for module in KINDS.values()})):
        if name in sys.modules:
            continue
        spec = PathFinder.find_spec(name, path)
        if spec is None or spec.submodule_search_locations is None:
            raise ConfigError("the package reasoning-gym is not installed: pip install --no-deps -r requirements-demo.txt")
        package = ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[name] = package
        path = path or package.__path__
    importlib.import_module(f"{PACKAGE}.coaching")  # first, since it and the factory import each other
