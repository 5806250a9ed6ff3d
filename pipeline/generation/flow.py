"""The flow of a generation run: open every dataset, then keep the engines busy until no dataset wants more.

A free slot goes to the first dataset, in the run's order, that wants one more answer. There is no barrier: while the last
long answers of one dataset are written, the next one fills the slots that these leave free.
"""

import asyncio
import time
from dataclasses import asdict
from pathlib import Path

from pipeline.admission import by_order
from pipeline.config import DatasetPlan, GenerateConfig
from pipeline.datasets.conversation import Conversation
from pipeline.errors import AbortedError, ConfigError, NoAnswerError, PipelineError
from pipeline.event import Event
from pipeline.events import Warned
from pipeline.generation.dataset import DatasetRun, Phase
from pipeline.generation.engines import Engines
from pipeline.generation.prompts import count_lines
from pipeline.generation.reporting import Reporter
from pipeline.generation.request import ask, failure
from pipeline.generation.steering import Steering
from pipeline.responses.failures import commonest_reason
from pipeline.responses.manifest import write_manifest
from pipeline.responses.record import Scope, sampling_name
from pipeline.responses.store import ResponseStore
from pipeline.stage import Outcome, Stage
from pipeline.stop_signals import stop_on_signals

REASON_CHARS = 300
"""Of the reason that most prompts failed for, in that of a run without an answer."""


class GenerationFlow:
    def __init__(self, config: GenerateConfig, stage: Stage) -> None:
        self.concurrency = config.concurrency
        self.datasets: list[DatasetRun] = []
        self.is_open = False
        self._config = config
        self._stage = stage
        self._reporter = Reporter(stage, self.datasets, waiting=self._waiting_for)
        self._steering = Steering(self, stage.control)
        self._engines: Engines | None = None
        self._doing = ""
        """What is done before the first request, in words for a person."""
        self._stop_reason: str | None = None
        self._stopped = asyncio.Event()
        self._woken = asyncio.Event()
        self._in_flight = 0

    async def run(self) -> Outcome:
        """Do the whole run. Raises PipelineError and OSError when it cannot go on; what was written is valid then."""
        started = time.monotonic()
        stop_on_signals(self.stop)
        try:
            async with asyncio.TaskGroup() as group:
                reporter = self._reporter
                works = (reporter.tick(), reporter.watch_progress(), reporter.watch_lengths(), self._steering.follow())
                helpers = [group.create_task(work) for work in works]
                await self._carry_out(group)
                await self._flush_captures()
                reporter.tell_lengths()
                for helper in helpers:
                    helper.cancel()
            await asyncio.to_thread(self._write_manifests)
            if self._stop_reason is None:
                await asyncio.to_thread(self._check_answers)
        except ExceptionGroup as failures:
            raise _first(failures) from failures
        finally:
            if self._engines is not None:
                await self._engines.close()
            for dataset in self.datasets:
                dataset.close()
        return Outcome(summary=self._summary(time.monotonic() - started), interrupted=self._stop_reason)

    def emit(self, event: Event) -> None:
        self._stage.emit(event)

    def pause(self, paused: bool) -> None:
        """Send nothing more until further notice; what is in flight is waited for."""
        self._reporter.paused = paused
        self._reporter.tell_status(at_once=True)

    def stop(self, reason: str) -> None:
        """End the run soon: what is in flight is taken back from the engines."""
        self._stop_reason = self._stop_reason or reason
        self._stopped.set()
        self.wake()

    def wake(self) -> None:
        """Let the flow look again at what may be sent."""
        self._woken.set()

    async def _carry_out(self, group: asyncio.TaskGroup) -> None:
        for plan in _without_doubles(self._config.datasets):
            if self._stop_reason is None:
                self._doing = f"opening the answers of {plan.slug}"
                await self._open(plan)
        self.is_open = True
        self._steering.obey_all()
        self._doing = ""
        if self._all_ended():
            return
        engines = await self._connect(group)
        while self._stop_reason is None:
            self._fill(group, engines)
            self._settle()
            if self._all_ended():
                return
            await self._woken.wait()
            self._woken.clear()
        await self._take_back(engines)

    async def _open(self, plan: DatasetPlan) -> None:
        """Find out what is there and tell it, also when a dataset needs nothing more. The loop turns meanwhile."""
        way = sampling_name(
            plan.sampling,
            chat_template=self._config.chat_template,
            chat_template_kwargs=self._config.chat_template_kwargs,
        )
        scope = Scope(dataset=plan.slug, revision=plan.revision, sampling=way)
        store = await asyncio.to_thread(ResponseStore, Path(self._config.responses) / plan.slug, scope)
        for warning in store.warnings:
            self.emit(Warned(text=warning, dataset=plan.slug))
        prompts = plan.prompts_count
        if prompts is None:
            prompts = await asyncio.to_thread(count_lines, Path(plan.prompts))
        dataset = DatasetRun(plan, store, prompts=prompts, retry_errors=self._config.retry_errors, emit=self.emit)
        self.datasets.append(dataset)
        self.emit(dataset.progress(time.monotonic()))
        dataset.skip_if_done()

    async def _connect(self, group: asyncio.TaskGroup) -> Engines:
        """Load the tokenizer and wait for an engine, however long that takes; a run that is stopped does not wait."""
        self._doing = "loading the tokenizer and asking the engines"
        self._engines = engines = Engines(self._config, on_change=self.emit)
        preparing = group.create_task(engines.prepare())
        stopping = group.create_task(self._stopped.wait())
        await asyncio.wait({preparing, stopping}, return_when=asyncio.FIRST_COMPLETED)
        self._doing = ""
        for task in (preparing, stopping):
            task.cancel()
        return engines

    def _fill(self, group: asyncio.TaskGroup, engines: Engines) -> None:
        """Send prompts until all slots are taken or no dataset wants one."""
        while self._in_flight < self.concurrency and not self._reporter.paused:
            now = time.monotonic()
            for position in by_order(self._config.order, [dataset.quota for dataset in self.datasets]):
                dataset = self.datasets[position]
                prompt = dataset.admit(now)
                if prompt is not None:
                    self._in_flight += 1
                    group.create_task(self._answer(engines, dataset, prompt))
                    break
            else:
                return

    async def _answer(self, engines: Engines, dataset: DatasetRun, prompt: Conversation) -> None:
        scope = dataset.store.scope
        try:
            found = await ask(engines, prompt, scope, dataset.plan.sampling)
        except AbortedError as error:
            if dataset.give_back(prompt, blamed=self._stop_reason is None):
                return
            found = failure(prompt, scope, f"aborted again and again: {error}")
        finally:
            self._in_flight -= 1
            self.wake()
        dataset.keep(found, time.monotonic())
        self._reporter.kept(dataset, found)

    async def _flush_captures(self) -> None:
        """Hidden states that engines kept of these answers are on disk when the run ends, for the run that trains on them."""
        if self._engines is not None:
            self._doing = "waiting for the engines to write hidden states"
            for problem in await self._engines.flush_captures():
                self.emit(Warned(text=problem))

    def _settle(self, *, stopped: bool = False) -> None:
        for dataset in self.datasets:
            dataset.settle(time.monotonic(), stopped=stopped)

    async def _take_back(self, engines: Engines) -> None:
        """After a stop: abort what is in flight on the engines, and end every dataset."""
        self._doing = "taking back what is in flight"
        await engines.take_back()
        while self._in_flight:
            await self._woken.wait()
            self._woken.clear()
        self._settle(stopped=True)

    def _all_ended(self) -> bool:
        return all(dataset.phase is Phase.ENDED for dataset in self.datasets)

    def _waiting_for(self) -> str:
        return (self._engines.waiting_for if self._engines is not None else "") or self._doing

    def _write_manifests(self) -> None:
        for dataset in self.datasets:
            config = self._config
            template = {"chat_template": config.chat_template, "chat_template_kwargs": config.chat_template_kwargs}
            write_manifest(dataset.store, way=asdict(dataset.plan.sampling) | template)

    def _check_answers(self) -> None:
        """A bad request is its record's error; nothing but such errors is the run's. Raises NoAnswerError then."""
        asked = [dataset for dataset in self.datasets if dataset.reason == "exhausted"]
        failed = sum(dataset.store.failures for dataset in asked)
        if not failed or any(dataset.store.answers for dataset in self.datasets if dataset.reason != "disabled"):
            return
        why = commonest_reason({dataset.store.folder: dataset.store.scope for dataset in asked})
        raise NoAnswerError(
            f"all {failed:,} prompts failed; most often: {why[:REASON_CHARS]}. "
            "Once that is mended, a run that retries errors asks them again"
        )

    def _summary(self, seconds: float) -> dict[str, object]:
        return {
            "seconds": round(seconds, 1),
            "tokens": sum(dataset.quota.lengths.tokens for dataset in self.datasets),
            "answers": sum(dataset.store.answers for dataset in self.datasets),
            "errors": sum(dataset.store.failures for dataset in self.datasets),
            "datasets": [dataset.summary() for dataset in self.datasets],
        }


def _without_doubles(plans: tuple[DatasetPlan, ...]) -> tuple[DatasetPlan, ...]:
    """Raises ConfigError when a dataset is named twice: both would write to one folder."""
    slugs = [plan.slug for plan in plans]
    if doubles := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise ConfigError(f"named twice among the datasets: {', '.join(doubles)}")
    return plans


def _first(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The failure to tell: of several at once, the first that a person can read."""
    leaves = _leaves(failures)
    return next((leaf for leaf in leaves if isinstance(leaf, PipelineError | OSError)), leaves[0])


def _leaves(failures: BaseExceptionGroup[BaseException]) -> list[BaseException]:
    found: list[BaseException] = []
    for error in failures.exceptions:
        found += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return found
