"""Decode prompts with a drafter, without a server: what a training process measures its drafter with.

loaded = load(LoadOptions(model=folder, dtype="float32", device="cpu", threads=None, slots=8, context_length=1024))
decoded = decode(loaded.runner, drafter, prompts, max_new_tokens=128, shape=DraftShape(), stop_ids=loaded.eos_ids)
accept_length = served_accept_length([answer.served for answer in decoded])
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pipeline.acceptance import Served
from pipeline.draft_shape import DraftShape
from pipeline.model import Drafter
from pipeline.serving.embedded.draft_loading import drafter_source
from pipeline.serving.embedded.draft_source import DraftSource
from pipeline.serving.embedded.job import new_job
from pipeline.serving.embedded.requests import SamplingParams, check_prompt
from pipeline.serving.embedded.runner import Runner
from pipeline.serving.embedded.scheduler import Limits, Scheduler


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """One greedy answer: the target's own tokens, whatever the drafter guessed."""

    tokens: tuple[int, ...]
    """With the stop token that ended it, if one did."""
    depths: tuple[int, ...]
    """Of each token, how many steps ahead it was drafted; 0 for the target's own."""
    verify_ct: int
    """Forwards of the target after the one that read the prompt."""
    correct_drafts: tuple[int, ...]
    """How many of them found exactly 0, 1, 2, … right guesses."""

    @property
    def served(self) -> Served:
        """Its counts, for `pipeline.acceptance`."""
        return Served(completion_tokens=len(self.tokens), verify_ct=self.verify_ct, correct_drafts=self.correct_drafts)


def decode(
    target_runner: Runner,
    drafter: Drafter | DraftSource | None,
    prompts: Sequence[Sequence[int]],
    *,
    max_new_tokens: int,
    shape: DraftShape | None = None,
    stop_ids: Collection[int] = (),
) -> list[Decoded]:
    """Greedy answers to all prompts, in their order, as many at once as the runner has slots.

    `drafter`: a live module, whose weights are copied before the first token; or a draft source that `draft_loading` made of
    a checkpoint folder or for prompt lookup, which brings its own shape; None decodes without guesses, for a baseline.
    Nobody else may use the runner meanwhile.
    Raises BadRequestError for a prompt that does not fit, ConfigError for a drafter of another target.
    """
    sampling = SamplingParams(temperature=0, max_new_tokens=max_new_tokens)
    for ids in prompts:
        check_prompt(ids, sampling, vocab_size=target_runner.vocab_size, context_length=target_runner.context_length)
    jobs = [new_job(str(n), tuple(ids), sampling, frozenset(stop_ids)) for n, ids in enumerate(prompts)]
    limits = Limits(
        max_running=target_runner.slots,
        max_queued=None,
        max_total_tokens=target_runner.slots * target_runner.context_length,
    )
    source = drafter_source(drafter, target_runner, shape or DraftShape()) if isinstance(drafter, Drafter) else drafter
    scheduler = Scheduler(target_runner, limits, lambda _jobs: None, source=source)
    scheduler.submit(jobs)
    while scheduler.running or scheduler.waiting:
        scheduler.turn()
    target_runner.watch(())
    return [
        Decoded(
            tokens=tuple(job.output_ids),
            depths=tuple(job.depths),
            verify_ct=job.drafts.verify_ct,
            correct_drafts=tuple(job.drafts.histogram),
        )
        for job in jobs
    ]
