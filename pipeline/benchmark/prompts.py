"""Which prompts are measured: of each dataset a few that training never saw, the same ones for everybody."""

import hashlib
import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.benchmark.config import PromptSet
from pipeline.datasets.conversation import Conversation
from pipeline.errors import DataError
from pipeline.held_out import is_held_out
from pipeline.tokens import PromptTokenizer

SPARE = 4
"""Times as many prompts are looked at as are wanted, as some may be too long or refused by the chat template."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    dataset: str
    key: str
    id: str
    """The source's own label; untrusted text."""
    text: str
    """For people; untrusted."""
    ids: tuple[int, ...]


def choose(
    plan: PromptSet,
    tokenizer: PromptTokenizer,
    *,
    share: float,
    count: int,
    seed: int,
    longest: int | None,
    warn: Callable[[str], None],
) -> list[Prompt]:
    """At most `count` held-out prompts of at most `longest` tokens; another seed takes others. Raises OSError.

    `warn` hears of lines that are no prompts, and when there are fewer prompts than wanted.
    """
    held_out = (prompt for prompt in _read(plan, warn) if is_held_out(plan.dataset, prompt.key, share=share))
    ranked = heapq.nsmallest(count * SPARE, held_out, key=lambda prompt: _rank(prompt.key, seed))
    chosen: list[Prompt] = []
    refused = 0
    for conversation in ranked:
        if len(chosen) == count:
            break
        try:
            ids = tokenizer.encode(conversation)
        except DataError:
            refused += 1
            continue
        if longest is not None and len(ids) > longest:
            refused += 1
            continue
        chosen.append(
            Prompt(
                dataset=plan.dataset,
                key=conversation.key,
                id=conversation.id,
                text=text_of(conversation),
                ids=tuple(ids),
            )
        )
    if len(chosen) < count:
        why = f"; {refused} more are too long or refused by the chat template" if refused else ""
        warn(f"{len(chosen)} held-out prompts are measured, not {count}: there are no more{why}")
    return chosen


def text_of(conversation: Conversation) -> str:
    """The chat in words; a prompt of token ids has none."""
    turns = [f"{message['role']}: {message['content']}" for message in conversation.messages]
    return "\n".join(turns) or f"{len(conversation.input_ids)} token ids"


def prompts_hash(prompts: list[Prompt]) -> str:
    """Names these prompts as their target reads them."""
    digest = hashlib.sha256()
    for prompt in prompts:
        digest.update(f"{prompt.dataset}\0{prompt.key}\0{','.join(map(str, prompt.ids))}\n".encode())
    return digest.hexdigest()


def _rank(key: str, seed: int) -> bytes:
    return hashlib.blake2b(f"{seed}\0{key}".encode(), digest_size=8).digest()


def _read(plan: PromptSet, warn: Callable[[str], None]) -> Iterator[Conversation]:
    with Path(plan.prompts).open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield Conversation.from_line(line)
            except DataError as error:
                warn(f"{plan.prompts}, line {number}: {error}; the line is passed over")
