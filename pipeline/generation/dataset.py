"""One dataset in a run: what it should reach, what it has, and which events say so."""

from collections import Counter
from collections.abc import Callable
from enum import Enum, auto
from pathlib import Path
from typing import Any

from pipeline.admission import Quota
from pipeline.budget import Target
from pipeline.config import DatasetPlan
from pipeline.control import SetBudget
from pipeline.datasets.conversation import Conversation
from pipeline.errors import DataError
from pipeline.event import Event
from pipeline.events import BudgetApplied, DatasetFinished, DatasetSkipped, DatasetStarted, GenerationProgress, Warned
from pipeline.generation.prompts import PromptFeed
from pipeline.generation.rates import Rates
from pipeline.lengths import AnswerLengths
from pipeline.responses.record import Failure, Response
from pipeline.responses.store import ResponseStore

MAX_ABORTS = 3
"""A prompt that engines abort more often, beyond their own retries, is given up."""


class Phase(Enum):
    WAITING = auto()
    """Nothing of it was sent yet."""
    ACTIVE = auto()
    ENDED = auto()


class DatasetRun:
    """Its store must be open. Every change of phase is told by an event, through `emit`."""

    def __init__(
        self, plan: DatasetPlan, store: ResponseStore, *, prompts: int, retry_errors: bool, emit: Callable[[Event], None]
    ) -> None:
        self.plan = plan
        self.store = store
        self.prompts = prompts
        self.phase = Phase.WAITING
        self.reason = ""
        """How it ended, once it has."""
        self.aborted: Counter[str] = Counter()
        """How often engines aborted a prompt in this attempt, by its key."""
        self.rates = Rates()
        self._emit = emit
        self._retry_errors = retry_errors
        self._started = False
        self._dry = False
        """No prompt is left to send."""
        lengths = AnswerLengths(plan.sampling.max_new_tokens)
        for tokens in store.lengths:
            lengths.add(tokens)
        target = Target(tokens=plan.budget, max_samples=plan.max_samples, enabled=plan.enabled, version=plan.budget_version)
        self.quota = Quota(target, lengths, prompts=prompts)
        self._feed = PromptFeed(Path(plan.prompts), store.answered if retry_errors else store.asked)

    @property
    def slug(self) -> str:
        return self.plan.slug

    @property
    def truncated(self) -> int:
        return self.store.finish_reasons["length"]

    @property
    def finish_reasons(self) -> dict[str, int]:
        """Answers by how they ended, and the requests that engines aborted in this attempt."""
        return dict(self.store.finish_reasons + Counter({"abort": self.aborted.total()}))

    def skip_if_done(self) -> None:
        """End it before it starts, when there is nothing to do; by the counts alone, without looking at prompts."""
        answered = self.store.answers + (0 if self._retry_errors else self.store.failures)
        if reason := self.quota.reason or ("exhausted" if answered >= self.prompts else None):
            self._skip(reason)

    def admit(self, now: float) -> Conversation | None:
        """A prompt to send now, counted as in flight; None when the dataset wants none at the moment."""
        if self.phase is Phase.ENDED or self._dry or not self.quota.admits(now):
            return None
        prompt = self._next_prompt()
        if prompt is None:
            self._dry = True
            return None
        if self.phase is Phase.WAITING:
            self._start(now)
        self.quota.start(prompt.key, now)
        return prompt

    def keep(self, found: Response | Failure, now: float) -> None:
        """Write what came of a prompt, then count it. Raises DiskFullError; nothing is counted then."""
        if isinstance(found, Failure):
            self.store.append_failure(found)
            self.quota.drop(found.key)
        else:
            self.store.append(found)
            self.quota.finish(found.key, found.completion_tokens, now)
            self.rates.add(found.completion_tokens, now)

    def give_back(self, prompt: Conversation, *, blamed: bool = True) -> bool:
        """Its request was aborted: try it again after the others. False when that was done often enough.

        Not `blamed` is a prompt that the run itself took back.
        """
        self.aborted[prompt.key] += blamed
        if self.aborted[prompt.key] > MAX_ABORTS:
            return False
        self.quota.drop(prompt.key)
        self._feed.put_back(prompt)
        self._dry = False
        return True

    def settle(self, now: float, *, stopped: bool = False) -> None:
        """End the dataset when nothing is in flight and nothing more is wanted, or when the run stops."""
        if self.phase is Phase.ENDED or self.quota.in_flight:
            return
        reason = self.quota.reason or ("exhausted" if self._dry else None)
        if self.phase is Phase.WAITING and reason is not None:
            self._skip(reason)
        elif self.phase is Phase.ACTIVE and (reason is not None or stopped):
            self._finish(reason or "stopped", now)

    def set_budget(self, message: SetBudget, now: float) -> None:
        """Take a new target; an ended dataset that is to go on is opened again. An older version changes nothing."""
        before = self.quota.target
        if message.version >= before.version:
            self.quota.target = Target(
                tokens=message.tokens, max_samples=message.max_samples, enabled=message.enabled, version=message.version
            )
        after = self.quota.target
        self._emit(
            BudgetApplied(
                dataset=self.slug,
                budget=after.tokens,
                max_samples=after.max_samples,
                previous=before.tokens,
                budget_version=after.version,
            )
        )
        if self.phase is Phase.ENDED and self.quota.reason is None and not self._dry:
            if self._started:
                self._start(now)
            else:
                self.phase = Phase.WAITING

    def progress(self, now: float) -> GenerationProgress:
        lengths = self.quota.lengths
        requests_per_s, tokens_per_s = self.rates.per_second(now)
        return GenerationProgress(
            dataset=self.slug,
            done=self.store.answers,
            total=self.prompts,
            errors=self.store.failures,
            truncated=self.truncated,
            tokens=lengths.tokens,
            in_flight=self.quota.in_flight,
            in_flight_tokens=round(self.quota.outlook(now).running),
            requests_per_s=round(requests_per_s, 3),
            tokens_per_s=round(tokens_per_s, 2),
            mean_completion=round(lengths.mean, 2),
            longest=lengths.longest,
            eta_s=self._eta(requests_per_s, tokens_per_s),
        )

    def summary(self) -> dict[str, Any]:
        """For the stage's last event."""
        return {
            "slug": self.slug,
            "reason": self.reason,
            "done": self.store.answers,
            "total": self.prompts,
            "tokens": self.quota.lengths.tokens,
            "budget": self.quota.target.tokens,
            "errors": self.store.failures,
            "truncated": self.truncated,
            "longest": self.quota.lengths.longest,
        }

    def close(self) -> None:
        self._feed.close()
        self.store.close()

    def _start(self, now: float) -> None:
        self.phase = Phase.ACTIVE
        self._started = True
        self.rates.start(now)
        target = self.quota.target
        self._emit(
            DatasetStarted(
                dataset=self.slug,
                prompts=self.prompts,
                done=self.store.answers,
                tokens=self.quota.lengths.tokens,
                budget=target.tokens,
                max_samples=target.max_samples,
                budget_version=target.version,
            )
        )

    def _skip(self, reason: str) -> None:
        self.phase, self.reason = Phase.ENDED, reason
        self._emit(
            DatasetSkipped(
                dataset=self.slug,
                reason=reason,
                tokens=self.quota.lengths.tokens,
                budget=self.quota.target.tokens,
                done=self.store.answers,
                prompts=self.prompts,
                errors=self.store.failures,
                budget_version=self.quota.target.version,
            )
        )

    def _finish(self, reason: str, now: float) -> None:
        self.phase, self.reason = Phase.ENDED, reason
        self._emit(self.progress(now))
        self._emit(
            DatasetFinished(
                dataset=self.slug,
                reason=reason,
                done=self.store.answers,
                total=self.prompts,
                tokens=self.quota.lengths.tokens,
                budget=self.quota.target.tokens,
                errors=self.store.failures,
                truncated=self.truncated,
                longest=self.quota.lengths.longest,
                finish_reasons=self.finish_reasons,
            )
        )

    def _next_prompt(self) -> Conversation | None:
        while True:
            try:
                return self._feed.take()
            except DataError as error:
                self._emit(Warned(text=f"{error}; the line is passed over", dataset=self.slug))

    def _eta(self, requests_per_s: float, tokens_per_s: float) -> float | None:
        """Seconds until the first of budget, samples and prompts runs out."""
        if not requests_per_s or not tokens_per_s:
            return None
        target = self.quota.target
        left = [(self.prompts - self.store.answers - self.store.failures) / requests_per_s]
        if target.tokens is not None:
            left.append((target.tokens - self.quota.lengths.tokens) / tokens_per_s)
        if target.max_samples is not None:
            left.append((target.max_samples - self.store.answers) / requests_per_s)
        return round(max(0.0, min(left)), 1)
