"""What a stub engine does, and the answers that it gives: pure, so that a test can recompute what must be on disk."""

import math
import random
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

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
