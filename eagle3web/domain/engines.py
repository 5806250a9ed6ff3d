"""What each of the registered inference servers is worth right now."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

from eagle3web.domain.clock import database_now
from eagle3web.domain.engine_hosts import check_engine_host
from eagle3web.enums import EngineState
from eagle3web.models import Engine, EngineSample
from eagle3web.pokes import ENGINES, poke
from pipeline.config import EngineRef
from pipeline.errors import EngineError
from pipeline.serving.client import EngineHealth, EngineLoads, ModelInfo, connect

PROBE_S = 4.0
"""Longest wait for the one token of a probe: an engine that takes longer hangs, or might as well."""
SAMPLED = ("running", "waiting", "tokens_per_s", "accept_length")
STATES = {"ok": EngineState.HEALTHY, "starting": EngineState.LOADING, "hung": EngineState.HANGING, "down": EngineState.DOWN}


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What a check found."""

    health: EngineHealth
    model: ModelInfo | None = None
    loads: EngineLoads | None = None
    problem: str = ""
    """A healthy engine that does not tell everything."""
    fields: dict[str, Any] = field(default_factory=dict)


def check_all() -> None:
    """Check every engine that is switched on, all at once, and write down what was found."""
    engines = list(Engine.objects.filter(enabled=True))
    findings = asyncio.run(_check(engines))
    for engine, finding in zip(engines, findings, strict=True):
        write(engine, finding)
    if engines:
        poke(ENGINES)


def write(engine: Engine, finding: Finding) -> None:
    """Put a finding into the engine's row, and what it said of its work into a sample for charts.

    An engine that is not healthy keeps what it last said of its model, and has a gap in its charts.
    """
    now = database_now()
    state = STATES[finding.health.state]
    fields: dict[str, Any] = {"state": state, "checked_at": now, "reason": (finding.health.detail or finding.problem)[:500]}
    if state != engine.state:
        fields["state_since"] = now
    if finding.model is not None:
        told = {"model_path": finding.model.model_path, "context_length": finding.model.context_length}
        fields["info"] = told | {"version": finding.model.version, "vocab_size": finding.model.vocab_size}
        fields["info"] |= _capture(finding.loads)
    loads = finding.loads
    fields["running"], fields["waiting"] = (loads.running, loads.waiting) if loads else (0, 0)
    fields["tokens_per_s"] = loads.gen_throughput if loads else None
    fields["accept_length"] = loads.accept_length if loads else None
    # An engine that was changed or switched off meanwhile is not judged by its old address.
    written = Engine.objects.filter(pk=engine.pk, url=engine.url, enabled=True).update(**fields)
    if written and loads is not None:
        EngineSample.objects.create(engine=engine, at=now, **{name: fields[name] for name in SAMPLED})


def _capture(loads: EngineLoads | None) -> dict[str, str]:
    """The folder in which the embedded engine keeps the hidden states of its answers, where it was told to and still does."""
    told = loads.server_info.get("capture") if loads else None
    return {"capture": str(told["folder"])} if isinstance(told, dict) and told.get("folder") and not told.get("off") else {}


def reference(engine: Engine) -> EngineRef:
    protocol: Any = engine.protocol
    return EngineRef(name=engine.name, url=engine.url, protocol=protocol, model=engine.model_name)


async def _check(engines: list[Engine]) -> list[Finding]:
    return list(await asyncio.gather(*(_check_one(reference(engine)) for engine in engines)))


async def _check_one(ref: EngineRef) -> Finding:
    try:
        check_engine_host(ref.url)
    except ValueError as error:
        # Registered before its host was taken off the list.
        return Finding(health=EngineHealth(state="down", detail=str(error)))
    client = connect(ref, timeout_s=PROBE_S, probe_timeout_s=PROBE_S)
    try:
        health = await client.probe()
        if not health.ok:
            return Finding(health=health)
        try:
            return Finding(health=health, model=await client.model_info(), loads=await client.loads())
        except EngineError as error:
            return Finding(health=health, problem=str(error))
    finally:
        await client.close()
