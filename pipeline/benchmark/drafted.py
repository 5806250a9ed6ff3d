"""An answer token by token, with the depth of each accepted draft: what the token view shows."""

from collections.abc import Callable, Sequence

from pipeline.benchmark.contenders import Contender
from pipeline.benchmark.prompts import Prompt
from pipeline.drafter_events import AnswerDrafted

SHOWN_TOKENS = 400
TEXT_CHARS = 4000
ID_CHARS = 200
HALF_CHARACTER = "\ufffd"


def drafted(
    prompt: Prompt,
    contender: Contender,
    *,
    output_ids: Sequence[int],
    depths: Sequence[int],
    decode: Callable[[Sequence[int]], str],
) -> AnswerDrafted:
    """The event of one answer, cut to what a page shows. `decode` keeps special tokens."""
    return AnswerDrafted(
        dataset=prompt.dataset,
        prompt_id=(prompt.id or prompt.key)[:ID_CHARS],
        prompt=prompt.text[:TEXT_CHARS],
        mode=contender.mode,
        shape=contender.shape_name,
        pieces=pieces(output_ids[:SHOWN_TOKENS], decode),
        depths=tuple(depths[:SHOWN_TOKENS]),
    )


def pieces(ids: Sequence[int], decode: Callable[[Sequence[int]], str]) -> tuple[str, ...]:
    """Text of each token, so that all of them together are the answer's text.

    A token that ends in the middle of a character is empty, and the one that completes it has the whole character.
    """
    found: list[str] = []
    shown = ""
    for end in range(1, len(ids) + 1):
        text = decode(ids[:end])
        if text.endswith(HALF_CHARACTER) and end < len(ids):
            found.append("")
            continue
        found.append(text[len(shown) :])
        shown = text
    return tuple(found)
