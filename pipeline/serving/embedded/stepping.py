"""One step of the model for all requests that decode: read their drafts, keep what it agrees to."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pipeline.lean_ops import argmax
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.runner import HiddenStates, Runner
from pipeline.serving.embedded.sampling import choose
from pipeline.serving.embedded.verification import Verdict, judge


def verify(runner: Runner, jobs: Sequence[Job], drafts: Sequence[Draft]) -> list[tuple[Verdict, HiddenStates | None]]:
    """For each job (index = slot) what its answer gets, and the states of the nodes that stay where layers are watched.

    The runner's slots hold the kept nodes afterwards; the jobs are not changed, but for their random numbers.
    """
    logits = runner.verify(drafts)
    likeliest = argmax(logits).tolist()
    results, first = [], 0
    for slot, (job, draft) in enumerate(zip(jobs, drafts, strict=True)):
        verdict = judge(draft, _chooser(job, logits, likeliest, first), job.stop_ids)
        runner.keep(slot, verdict.nodes)
        states = runner.states
        if states is not None:
            states = states[torch.tensor(verdict.nodes, device=states.last.device) + first]
        results.append((verdict, states))
        first += len(draft)
    return results


def _chooser(job: Job, logits: Tensor, likeliest: Sequence[int], first: int) -> Callable[[int], int]:
    """The target's token after each node of a draft whose node 0 is row `first`."""
    return lambda node: choose(logits[first + node], job, likeliest[first + node])
