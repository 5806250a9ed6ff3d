"""Many rows at a time, with moments of their own."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from django.db.models import Model

Row = TypeVar("Row", bound=Model)
Advance = Callable[[int], None]
"""Told after each batch how many rows it had."""
BATCH = 5_000


def write(kind: type[Row], rows: Iterable[Row], advance: Advance) -> None:
    """Insert the rows in batches, each in a transaction of its own, so that other writers get their turn."""
    source = iter(rows)
    while batch := list(islice(source, BATCH)):
        kind._default_manager.bulk_create(batch, batch_size=1_000)
        advance(len(batch))


@contextmanager
def own_moments(*kinds: type[Model]) -> Iterator[None]:
    """Within it, fields that take the moment of their creation keep the moment that they are given."""
    fields: list[Any] = [field for kind in kinds for field in kind._meta.fields if getattr(field, "auto_now_add", False)]
    for field in fields:
        field.auto_now_add = False
    try:
        yield
    finally:
        for field in fields:
            field.auto_now_add = True
