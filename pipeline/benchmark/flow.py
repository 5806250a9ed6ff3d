"""The flow of a benchmark: read and check, load engines, warm them up, measure, say what came of it."""

import asyncio
import secrets
import time
from pathlib import Path
from typing import Any

from pipeline.artifacts import config_hash, write_json
from pipeline.benchmark.answers import draft_answers
from pipeline.benchmark.config import BenchmarkConfig
from pipeline.benchmark.engines import Engines
from pipeline.benchmark.inputs import Inputs, Prompts, read_inputs
from pipeline.benchmark.measured import MeasuredFile
from pipeline.benchmark.measuring import Measuring
from pipeline.benchmark.report import SUMMARY, essence, is_greedy, setting_of, summary_of
from pipeline.benchmark.results import summarise
from pipeline.benchmark.steering import Steering
from pipeline.benchmark_rows import Row
from pipeline.errors import EngineError, PipelineError
from pipeline.events import StatusChanged, Warned
from pipeline.model_card import write_model_card
from pipeline.stage import Outcome, Stage
from pipeline.stop_signals import stop_on_signals

TICK_S = 1.0


class BenchmarkFlow:
    def __init__(self, config: BenchmarkConfig, stage: Stage) -> None:
        self._config = config
        self._stage = stage
        self._output = Path(config.output)
        self._engines = Engines(config, stage.folder.path, doing=self._tell)
        self._steering = Steering(stage.control, on_pause=self._tell_pause, warn=self._warn)
        self._doing = ""

    async def run(self) -> Outcome:
        """Do the whole benchmark. Raises PipelineError and OSError when it cannot go on; what was measured is kept then."""
        started = time.monotonic()
        stop_on_signals(self._steering.stop)
        work = asyncio.ensure_future(self._carry_out())
        helpers = [asyncio.ensure_future(helper) for helper in (self._tick(), self._steering.follow())]
        try:
            # A helper ends only when something is wrong.
            ended, _ = await asyncio.wait([work, *helpers], return_when=asyncio.FIRST_COMPLETED)
            for task in ended:
                task.result()
            summary = work.result()
        finally:
            for task in (work, *helpers):
                task.cancel()
            await asyncio.gather(work, *helpers, return_exceptions=True)
            await self._engines.close()
        seconds = round(time.monotonic() - started, 1)
        return Outcome(summary=summary | {"seconds": seconds}, interrupted=self._steering.stop_reason)

    async def _carry_out(self) -> dict[str, object]:
        """The summary of what was measured; empty when a stop came before anything was."""
        self._tell("choosing prompts")
        inputs = await asyncio.to_thread(read_inputs, self._config, warn=self._warn)
        if not await self._steering.unless_stopped(asyncio.ensure_future(self._engines.start())):
            return {}
        prompts = inputs.prompts_within(
            self._engines.context_length, answer=self._config.sampling.max_new_tokens, warn=self._warn
        )
        setting = config_hash(setting_of(self._config, inputs, prompts))
        measured = MeasuredFile(self._output, setting=setting, attempt=secrets.token_hex(4))
        try:
            measuring = Measuring(self._config, self._engines, prompts, measured, self._steering, emit=self._stage.emit)
            for warning in measured.warnings:
                self._warn(warning)
            for engine in self._engines.all:
                self._tell(f"warming up the engine for {engine.contender.name}")
                await measuring.warm_up(engine)
            self._tell("")
            await measuring.measure_all()
        finally:
            measured.close()
        return await self._conclude(inputs, prompts, measuring, measured.path) if measuring.passes else {}

    async def _conclude(self, inputs: Inputs, prompts: Prompts, measuring: Measuring, measured: Path) -> dict[str, object]:
        """Tell the rows and keep them, in summary.json and, when all is measured, in the checkpoint's model card."""
        stopped = self._steering.stop_reason
        rows = summarise(measuring.passes, greedy=is_greedy(self._config))
        for row in rows:
            self._stage.emit(row)
        summary = summary_of(
            self._config, inputs, prompts, self._engines, measuring.passes, rows, measured=measured, interrupted=stopped
        )
        await asyncio.to_thread(write_json, self._output / SUMMARY, summary)
        if stopped is None:
            await self._show_answers(inputs, prompts, rows=summary["rows"])
            await self._write_card(inputs, summary)
        return essence(summary)

    async def _show_answers(self, inputs: Inputs, prompts: Prompts, *, rows: list[Row]) -> None:
        self._tell("asking for answers to look at")
        sampling, tell = self._config.sampling, self._stage.emit
        try:
            await draft_answers(self._output, self._engines, inputs, prompts, rows, sampling=sampling, tell=tell)
        except EngineError as error:
            self._warn(f"there is no answer to look at: {error}")

    async def _write_card(self, inputs: Inputs, summary: dict[str, Any]) -> None:
        if not inputs.drafter:
            return
        try:
            await asyncio.to_thread(write_model_card, Path(inputs.drafter["path"]), benchmark=summary)
        except (PipelineError, OSError) as error:
            self._warn(f"the checkpoint's model card stays as it was: {error}")

    async def _tick(self) -> None:
        """Every second, for ever. Raises what `Stage.tick` raises."""
        while True:
            self._stage.tick(self._doing)
            await asyncio.sleep(TICK_S)

    def _tell(self, doing: str) -> None:
        if doing != self._doing:
            self._doing = doing
            self._stage.emit(StatusChanged(text=doing))

    def _tell_pause(self, paused: bool) -> None:
        text = "paused: the pass that has begun is measured to its end" if paused else self._doing
        self._stage.emit(StatusChanged(text=text, paused=paused))

    def _warn(self, text: str) -> None:
        self._stage.emit(Warned(text=text))
