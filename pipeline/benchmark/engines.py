"""The engines that are measured: our own, one for each way of decoding, or ones that run already. Only one works at a time."""

import asyncio
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from pipeline.benchmark.config import BenchmarkConfig, ServedMode
from pipeline.benchmark.contenders import Contender, embedded_contenders
from pipeline.benchmark.processes import EngineProcess
from pipeline.config import EngineRef
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError, EngineBusyError, EngineError, EngineUnavailableError
from pipeline.serving.client import EngineClient, connect
from pipeline.serving.transport import Transport

REQUEST_S = 3600.0
FLUSH_S = 10.0
LONGEST_WAIT_S = 1800.0
"""For a server that runs already, or is said to: large models load for many minutes."""
ASK_EVERY_S = 2.0
ENDING_S = 1.0
"""A process that dies is gone within this after its last connection."""
TOLD = ("model_path", "version", "dtype", "tp_size", "attention_backend", "kv_cache_dtype", "mem_fraction_static")
"""Of what a server tells about itself, with its speculative settings, what is kept with the result."""


@dataclass(kw_only=True)
class Engine:
    """One engine behind one way of decoding."""

    contender: Contender
    client: EngineClient
    transport: Transport
    """For what the client has no call for."""
    process: EngineProcess | None = None
    """None for an engine that is not ours."""
    told: dict[str, Any] = field(default_factory=dict)
    """Address or flags, version, and settings: what a result depends on."""
    context_length: int | None = None

    async def flush(self) -> bool:
        """Let it forget the prompts of earlier passes; False when it cannot, as it works for somebody."""
        try:
            await self.transport.post("/flush_cache", {}, timeout_s=FLUSH_S)
        except EngineError:
            return False
        return True

    async def explain(self, error: EngineError) -> EngineError:
        """The same error, or how the engine's process ended where it did: its connections are cut a moment before."""
        if self.process is None:
            return error
        deadline = time.monotonic() + ENDING_S
        while not (fault := self.process.fault()) and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        return EngineUnavailableError(fault) if fault else error


class Engines:
    """Call `start` once, and `close` on the way out, whatever `start` came to."""

    def __init__(self, config: BenchmarkConfig, folder: Path, *, doing: Callable[[str], None]) -> None:
        """`folder` gets the logs of our own engines; `doing` hears what is waited for."""
        self._config = config
        self._folder = folder
        self._doing = doing
        self.all: list[Engine] = []
        self._connected: list[Engine] = []
        """Also one that turned out to be unusable."""
        self._processes: list[EngineProcess] = []

    @property
    def contenders(self) -> list[Contender]:
        return [engine.contender for engine in self.all]

    @property
    def context_length(self) -> int | None:
        """The shortest among them."""
        return min((engine.context_length for engine in self.all if engine.context_length), default=None)

    def of(self, contender: Contender) -> Engine:
        return next(engine for engine in self.all if engine.contender == contender)

    async def start(self) -> None:
        """Load or find all engines. Raises EngineUnavailableError, ConfigError."""
        if self._config.served:
            for served in self._config.served:
                self.all.append(await self._find(served))
        else:
            await self._launch_all(pick_device(self._config.device))
        names = [contender.name for contender in self.contenders]
        if doubles := sorted({name for name in names if names.count(name) > 1}):
            raise ConfigError(f"two engines decode in the same way, which one is meant? {', '.join(doubles)}")

    async def close(self) -> None:
        for engine in self._connected:
            await asyncio.gather(engine.client.close(), engine.transport.close())
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            await asyncio.to_thread(process.wait)

    async def _launch_all(self, device: str) -> None:
        started = []
        contenders = embedded_contenders(self._config)
        self._doing(f"loading {len(contenders)} engines")
        for contender in contenders:
            command = engine_command(self._config, contender, device)
            process = EngineProcess(contender.name, command, self._folder)
            self._processes.append(process)
            started.append((contender, process, command[1:]))
            if device != "cpu":
                # An engine takes its share of the memory that is free on the device: one at a time.
                await process.url()
        for contender, process, command in started:
            self._doing(f"waiting for the engine for {contender.name}")
            engine = self._connect(contender, EngineRef(name=contender.name, url=await process.url()))
            engine.process = process
            try:
                await self._ask(engine)
            except EngineError as error:
                raise await engine.explain(error) from error
            engine.told["command"] = command
            self.all.append(engine)

    async def _find(self, served: ServedMode) -> Engine:
        ref = served.engine
        if ref.protocol != "sglang":
            raise ConfigError(f"{ref.name}: only SGLang's own protocol tells how many drafts were accepted")
        self._doing(f"waiting for {ref.name} at {ref.url}")
        engine = self._connect(Contender(mode=served.mode), ref)
        server = await self._ask(engine)
        drafts = server.get("speculative_algorithm")
        if served.mode == "plain" and drafts:
            raise ConfigError(f"{ref.name} is named plain, and runs with {drafts}: that is no baseline")
        if served.mode != "plain":
            engine.contender = Contender(mode=served.mode, shape=_shape_of(server) or self._config.shapes[0])
        engine.told["url"] = ref.url
        return engine

    def _connect(self, contender: Contender, ref: EngineRef) -> Engine:
        client, transport = connect(ref, timeout_s=REQUEST_S), Transport(ref.url, name=ref.name)
        self._connected.append(Engine(contender=contender, client=client, transport=transport))
        return self._connected[-1]

    async def _ask(self, engine: Engine) -> Mapping[str, Any]:
        """What the server tells, once it answers."""
        deadline = time.monotonic() + LONGEST_WAIT_S
        while True:
            try:
                info = await engine.client.model_info()
                server = (await engine.client.loads()).server_info
                break
            except (EngineUnavailableError, EngineBusyError):
                if engine.process is not None or time.monotonic() > deadline:
                    raise
                await asyncio.sleep(ASK_EVERY_S)
        engine.context_length = info.context_length
        engine.told = {
            key: value for key, value in server.items() if (key in TOLD or key.startswith("speculative_")) and value is not None
        }
        return server


def pick_device(name: str) -> str:
    """`auto` is the GPU, where there is one."""
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "cpu"


def engine_command(config: BenchmarkConfig, contender: Contender, device: str) -> list[str]:
    """How an embedded engine that decodes so is started."""
    flags = {
        "--model": config.target,
        "--port": "0",
        "--dtype": config.dtype,
        "--device": device,
        "--max-running": str(max(config.concurrency)),
    }
    if contender.mode == "drafter":
        flags["--draft-model"] = config.drafter
    if contender.mode == "lookup":
        flags["--draft"] = "lookup"
    if contender.shape is not None:
        flags["--draft-steps"] = str(contender.shape.steps)
        flags["--draft-topk"] = str(contender.shape.topk)
        flags["--draft-tokens"] = str(contender.shape.draft_tokens)
        if contender.shape.confidence:
            flags["--draft-confidence"] = str(contender.shape.confidence)
    return [sys.executable, "-m", "pipeline", "engine", *(part for flag in flags.items() for part in flag)]


def _shape_of(server: Mapping[str, Any]) -> DraftShape | None:
    """As SGLang tells it; its NGRAM has draft tokens alone."""
    tokens = server.get("speculative_num_draft_tokens")
    if not isinstance(tokens, int):
        return None
    steps, topk = server.get("speculative_num_steps"), server.get("speculative_eagle_topk")
    return DraftShape(steps=steps or tokens - 1, topk=topk or 1, draft_tokens=tokens)
