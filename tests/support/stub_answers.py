"""What a stub engine does, and the answers that it gives: pure, so that a test can recompute what must be on disk."""

import math
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

EOS = 2
FIRST_WORD = 3


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """What the stub does; each field is a command-line flag."""

    latency_s: float = 0.0
    """Time of each answer, whatever its length."""
    token_s: float = 0.0
    """Time added for each completion token."""
    mean_tokens: float = 64.0
    """Mean answer length before max_new_tokens cuts it; drawn from a log-normal distribution."""
    sigma: float = 1.0
    """Spread of the log-normal; 0 makes all answers equally long, 1 has a long tail."""
    slots: int = 0
    """Answers worked on at once; more of them wait. 0: no limit."""
    max_in_flight: int = 0
    """503 when this many requests are inside. 0: no limit."""
    startup_s: float = 0.0
    """/health and /generate answer 503 for this long after the start."""
    hang: bool = False
    """Take requests and never answer (/health_generate too), with /health still 200."""
    refuse: bool = False
    """Answer 503 to every generation request."""
    cut_every: int = 0
    """Cut the connection in the middle of every n-th answer."""
    bad_token: int = -1
    """400 for a prompt that holds this id."""
    abort_every: int = 0
    """End every n-th answer early with finish reason `abort`."""
    die_after: int = 0
    """Kill the own process (SIGKILL) when this many answers were sent. Never use it in-process."""
    draft_steps: int = 0
    """Count verifications as a drafter of so many steps would have them. 0: plain decoding."""
    vocab_size: int = 32000
    context_length: int = 32768


@dataclass(frozen=True)
class StubAnswer:
    ids: tuple[int, ...]
    finish_reason: str
    """stop | length."""

    @property
    def text(self) -> str:
        return text_of(self.ids)


def accepted_drafts(ids: Sequence[int], steps: int) -> list[int]:
    """How many drafts each verification of an answer accepts: as many as its first token says, modulo steps + 1.

    The first token needs none, and the answer may end inside of the last one.
    """
    accepted: list[int] = []
    done = 1
    while done < len(ids):
        accepted.append(min(ids[done] % (steps + 1), len(ids) - done))
        done += accepted[-1] + 1
    return accepted


def draft_depths(ids: Sequence[int], steps: int) -> list[int]:
    """For each token how deep in its draft it stood; 0 for the target's own."""
    depths = [0]
    for drafts in accepted_drafts(ids, steps):
        depths += [*range(1, drafts + 1), 0]
    return depths[: len(ids)]


def draft_counts(ids: Sequence[int], steps: int) -> dict[str, Any]:
    """SGLang's account of an answer that was drafted so."""
    accepted = accepted_drafts(ids, steps)
    return {
        "spec_verify_ct": len(accepted),
        "spec_accept_length": len(ids) / len(accepted) if accepted else None,
        "spec_num_correct_drafts": sum(accepted),
        "spec_num_proposed_drafts": len(accepted) * steps,
        "spec_correct_drafts_histogram": [accepted.count(drafts) for drafts in range(steps + 1)],
    }


def text_of(ids: Sequence[int]) -> str:
    return "".join(f" w{token}" for token in ids if token != EOS)


def answer_for(
    input_ids: Sequence[int],
    *,
    seed: int = 0,
    max_new_tokens: int = 128,
    ignore_eos: bool = False,
    behaviour: Behaviour | None = None,
) -> StubAnswer:
    """The answer that a stub with this behaviour gives: equal arguments, equal answer, in every process."""
    how = behaviour or Behaviour()
    draw = random.Random(zlib.crc32(f"{seed}:{','.join(map(str, input_ids))}".encode()))
    length = max(1, round(draw.lognormvariate(math.log(how.mean_tokens) - how.sigma**2 / 2, how.sigma)))
    if ignore_eos:
        length = max_new_tokens + 1
    words = tuple(draw.choices(range(FIRST_WORD, how.vocab_size), k=min(length, max_new_tokens)))
    if length > max_new_tokens:
        return StubAnswer(words, "length")
    return StubAnswer((*words[:-1], EOS), "stop")
