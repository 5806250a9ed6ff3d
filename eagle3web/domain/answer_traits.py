"""What can be told of an answer without reading it: whether it repeats itself, and in what script it is written. Pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache

GRAM = 4
CODE = "code"
LOOKED_AT = 20_000
"""Characters that the language is told from."""
_NAMES = {"Cjk": "Han"}
_THOUGHT = re.compile(r"</?think>")
_FENCE = re.compile(r"^\s*(```|~~~)")
_CODE_LINE = re.compile(
    r"[;{}]\s*(//.*)?$"  # C and its kin end their lines so
    r"|^\s*(def |class |return\b|import |from \S+ import |elif |else:|except\b|#include|#define|public |private |static |func "
    r"|fn |var |let |const |SELECT |INSERT |UPDATE |CREATE )"
    r"|^\s*</?[a-zA-Z][^<>]*>\s*$"
    r"|^\s*(if|for|while|with|try)\b.*:\s*(#.*)?$"
    r"|^\s*[\w.\[\]]+ (=|\+=|-=|:=) \S"
    r"|^\s*[\w.]+\([^)]*\)\s*$"
)


def repetition(items: Sequence[Hashable]) -> float:
    """Share of the sequences of GRAM items that occurred before, 0 to 1; 0 for what is shorter.

    Of token ids, where the engine gave them; of words else.
    """
    total = len(items) - GRAM + 1
    if total < 1:
        return 0.0
    distinct = len(set(zip(*(items[start:] for start in range(GRAM)), strict=False)))
    return 1 - distinct / total


def language(text: str) -> str:
    """`code` where most lines look like it, else the script of most letters, such as Latin or Han; empty without letters."""
    start = _THOUGHT.sub("\n", text[:LOOKED_AT])
    return CODE if _is_mostly_code(start) else _script(start)


def _script(text: str) -> str:
    scripts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        if character.isalpha():
            scripts[_script_of(character)] += count
    return scripts.most_common(1)[0][0] if scripts else ""


@lru_cache(maxsize=8192)
def _script_of(letter: str) -> str:
    """The first word of its name, which Unicode begins with the script."""
    word = unicodedata.name(letter, "other").split(" ", 1)[0].split("-", 1)[0].capitalize()
    return _NAMES.get(word, word)


def _is_mostly_code(text: str) -> bool:
    code = lines = 0
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        elif line.strip():
            lines += 1
            code += fenced or _CODE_LINE.search(line) is not None
    return lines > 0 and 2 * code > lines
