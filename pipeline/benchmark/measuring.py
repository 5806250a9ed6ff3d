"""Pass after pass: every contender over the same prompts, beside one another, until all groups are measured."""

from collections.abc import Callable
from dataclasses import replace

from pipeline.benchmark.config import BenchmarkConfig
from pipeline.benchmark.contenders import Group, groups, in_turn
from pipeline.benchmark.engines import Engine, Engines
from pipeline.benchmark.inputs import Prompts
from pipeline.benchmark.measured import MeasuredFile, Pass, Request
from pipeline.benchmark.passes import measure
from pipeline.benchmark.prompts import Prompt
from pipeline.benchmark.steering import Steering
from pipeline.drafter_events import BenchmarkMeasured
from pipeline.event import Event
from pipeline.events import Warned

WARM_TOKENS = 32
"""Length of the answers that warm an engine up."""


class Measuring:
    def __init__(
        self,
        config: BenchmarkConfig,
        engines: Engines,
        prompts: Prompts,
        measured: MeasuredFile,
        steering: Steering,
        *,
        emit: Callable[[Event], None],
    ) -> None:
        """Groups that stand in `measured` already are kept."""
        self._config = config
        self._engines = engines
        self._prompts = prompts
        self._measured = measured
        self._steering = steering
        self._emit = emit
        self._plan = groups(list(prompts), config.concurrency, config.repetitions)
        kept = measured.groups(engines.contenders)
        self._finished = {group: kept[group] for group in self._plan if group in kept}
        self._durations: list[float] = []
        """Seconds of each pass of this attempt."""

    @property
    def passes(self) -> list[Pass]:
        """Those of finished groups."""
        return [one for passes in self._finished.values() for one in passes]

    async def warm_up(self, engine: Engine) -> None:
        """The first requests of an engine pay for what is made on first use: they count for nothing."""
        some = [prompt for prompts in self._prompts.values() for prompt in prompts][: self._config.warmup_prompts]
        sampling = self._config.sampling
        await measure(
            engine,
            some,
            sampling=replace(sampling, max_new_tokens=min(WARM_TOKENS, sampling.max_new_tokens)),
            concurrency=max(self._config.concurrency),
            stopping=self._steering.stopping,
            keep=lambda _request: None,
        )

    async def measure_all(self) -> None:
        """Until everything is measured, or a stop comes. Raises EngineError, DiskFullError."""
        for group in self._plan:
            if group not in self._finished:
                passes = await self._measure_group(group)
                if passes is None:
                    return
                self._finished[group] = passes

    async def _measure_group(self, group: Group) -> list[Pass] | None:
        """The passes of all contenders, one after the other; None when a stop came between."""
        passes: list[Pass] = []
        for contender in in_turn(self._engines.contenders, group.repetition):
            if not await self._steering.may_go_on():
                return None
            one = await self._measure_pass(self._engines.of(contender), group, self._prompts[group.dataset])
            if one is None:
                return None
            passes.append(one)
            self._tell(one, done=len(self.passes) + len(passes))
        return passes

    async def _measure_pass(self, engine: Engine, group: Group, prompts: list[Prompt]) -> Pass | None:
        if not await engine.flush():
            self._emit(Warned(text=f"{engine.client.name} works for others too: it seems slower than it is"))
        requests: list[Request] = []

        def keep(request: Request) -> None:
            self._measured.add_request(group, engine.contender, request)
            requests.append(request)

        seconds = await measure(
            engine,
            prompts,
            sampling=self._config.sampling,
            concurrency=group.concurrency,
            stopping=self._steering.stopping,
            keep=keep,
        )
        if seconds is None:
            return None
        self._durations.append(seconds)
        return self._measured.add_pass(group, engine.contender, seconds=seconds, requests=requests)

    def _tell(self, one: Pass, *, done: int) -> None:
        total = len(self._plan) * len(self._engines.contenders)
        self._emit(
            BenchmarkMeasured(
                dataset=one.dataset,
                mode=one.mode,
                shape=one.shape,
                concurrency=one.concurrency,
                repetition=one.repetition,
                requests=len(one.requests),
                tokens=one.tokens,
                seconds=round(one.seconds, 4),
                tokens_per_s=round(one.tokens_per_s, 3),
                accept_length=one.accept_length,
                done=done,
                total=total,
                eta_s=round((total - done) * sum(self._durations) / len(self._durations), 1),
            )
        )
