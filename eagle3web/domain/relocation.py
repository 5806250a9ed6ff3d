"""A home that moved: what rows say of places in the old one, said of the new one."""

from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Model

from eagle3web.models import Attempt, Checkpoint, ControlMessage, Engine, Project, Run
from pipeline.control import SwapDrafter

PATHS: tuple[tuple[type[Model], str], ...] = (
    (Attempt, "folder"),
    (Checkpoint, "path"),
    (Project, "tokenizer"),
    (Project, "target_path"),
)
CONFIGS: tuple[tuple[type[Model], str, dict[str, str]], ...] = (
    (Run, "config", {}),
    (Engine, "info", {}),
    (ControlMessage, "payload", {"kind": SwapDrafter.kind}),
)
"""JSON with paths inside, and of which rows: a drafter swapped in is what later attempts start with. What an attempt was
started with (its argv and config) is history, and stays as it was."""


def relocate(old: Path, new: Path) -> int:
    """Point every row at the new home, in one transaction; how many rows were changed."""
    if old == new:
        return 0
    changed = 0
    with transaction.atomic():
        for model, name in PATHS:
            for row in model._default_manager.filter(**{f"{name}__startswith": f"{old}/"}).only(name):
                changed += model._default_manager.filter(pk=row.pk).update(**{name: moved(getattr(row, name), old, new)})
        for model, name, which in CONFIGS:
            for row in model._default_manager.filter(**which).only(name).iterator(chunk_size=200):
                if (found := moved(getattr(row, name), old, new)) != getattr(row, name):
                    changed += model._default_manager.filter(pk=row.pk).update(**{name: found})
    return changed


def moved(value: Any, old: Path, new: Path) -> Any:  # noqa: ANN401  (any JSON value)
    """The value with every text that is a path below `old` below `new` instead."""
    if isinstance(value, str):
        return f"{new}{value[len(str(old)) :]}" if value.startswith(f"{old}/") else value
    if isinstance(value, list):
        return [moved(item, old, new) for item in value]
    if isinstance(value, dict):
        return {key: moved(item, old, new) for key, item in value.items()}
    return value
