"""The engines of serve runs in the registry: there while their server answers, switched off before it ends."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction

from eagle3web.domain.audit import record
from eagle3web.domain.engine_hosts import check_engine_host
from eagle3web.enums import AttemptStatus, EngineProtocol, EngineState
from eagle3web.models import Attempt, Engine
from eagle3web.pokes import ENGINES, poke
from pipeline.event import Event
from pipeline.server_events import ServerDraining, ServerReady

IDLE = {"running": 0, "waiting": 0, "tokens_per_s": None, "accept_length": None}


def follow(attempt: Attempt, event: Event, *, ready: Mapping[str, Any] | None) -> None:
    """Take over what a serve stage says of its server. The same again changes nothing, nor does what comes after the end.

    `ready` is the attempt's last ServerReady before the event, None before the first.

    Consequences: an engine of that name, at the server's address, is switched on once that is ready, and off when it drains.
    """
    if not isinstance(event, (ServerReady, ServerDraining)):
        return
    if not Attempt.objects.filter(pk=attempt.pk, status__in=AttemptStatus.LIVE).exists():
        return
    if isinstance(event, ServerDraining):
        _switch_off(attempt, ready)
    elif event.engine:
        _switch_on(event, attempt)


def retire(attempt: Attempt) -> None:
    """Switch the engine of an ended attempt off: nobody should choose what is not there. Runs that use it wait."""
    _switch_off(attempt, attempt.counters.get(ServerReady.kind))


def _switch_on(event: ServerReady, attempt: Attempt) -> None:
    try:
        check_engine_host(event.url)
    except ValueError as error:
        record(None, "engine.refuse", attempt.run, name=event.engine[:80], url=event.url[:300], reason=str(error))
        return
    fields: dict[str, Any] = {"url": event.url[:300], "protocol": EngineProtocol.SGLANG, "enabled": True}
    engine, made = Engine.objects.get_or_create(name=event.engine[:80], defaults=fields)
    changed = {name: value for name, value in fields.items() if getattr(engine, name) != value}
    if changed:
        # Its state is another server's; the next check finds out.
        Engine.objects.filter(pk=engine.pk).update(**changed, state=EngineState.UNKNOWN, **IDLE)
    if made or changed:
        verb = "engine.register" if made else "engine.change"
        record(None, verb, engine, name=engine.name, run=attempt.run_id, url=event.url[:300], enabled=True)
        transaction.on_commit(partial(poke, ENGINES))


def _switch_off(attempt: Attempt, ready: Mapping[str, Any] | None) -> None:
    """Of that name at this attempt's own address: another server may have taken the name over."""
    if ready is None:
        return
    here = Engine.objects.filter(name=_engine_name(attempt), url=str(ready["url"])[:300], enabled=True)
    if (engine := here.first()) is None:
        return
    Engine.objects.filter(pk=engine.pk).update(enabled=False, state=EngineState.UNKNOWN, **IDLE)
    record(None, "engine.change", engine, name=engine.name, run=attempt.run_id, enabled=False)
    transaction.on_commit(partial(poke, ENGINES))


def _engine_name(attempt: Attempt) -> str:
    return str(attempt.config.get("engine", ""))[:80]
