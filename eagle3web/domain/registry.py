"""The registry of engines: which servers people let runs use. How they are is found out elsewhere."""

from functools import partial
from typing import TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction

from eagle3web.domain.audit import record
from eagle3web.domain.engine_hosts import check_engine_host
from eagle3web.models import Engine, User
from eagle3web.pokes import ENGINES, poke


class EngineFields(TypedDict, total=False):
    """What people decide about an engine, as in the model."""

    url: str
    protocol: str
    model_name: str
    enabled: bool


def register_engine(name: str, *, user: User | None, **fields: Unpack[EngineFields]) -> Engine:
    """Make an engine known; its state is `unknown` until it is asked. Raises ValidationError by field."""
    engine = Engine(name=name, **fields)
    with transaction.atomic():
        engine.full_clean()
        _check_place(engine)
        engine.save()
        record(user, "engine.register", engine, name=name, **fields)
        transaction.on_commit(partial(poke, ENGINES))
    return engine


def change_engine(engine: Engine, *, user: User | None, **changes: Unpack[EngineFields]) -> Engine:
    """Change an engine for the attempts that start from now on. Raises ValidationError by field."""
    moved = {name: [getattr(engine, name), value] for name, value in changes.items() if getattr(engine, name) != value}
    if not moved:
        return engine
    for name, (_old, new) in moved.items():
        setattr(engine, name, new)
    with transaction.atomic():
        engine.full_clean()
        if "url" in moved:
            _check_place(engine)
        engine.save(update_fields=list(moved))
        record(user, "engine.change", engine, name=engine.name, changes=moved)
        transaction.on_commit(partial(poke, ENGINES))
    return engine


def _check_place(engine: Engine) -> None:
    try:
        check_engine_host(engine.url)
    except ValueError as error:
        raise ValidationError({"url": str(error)}) from error
