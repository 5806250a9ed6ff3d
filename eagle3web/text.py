"""Untrusted text made safe to look at: what cannot be seen gets a visible sign. Escaping is the template's work.

A prompt, an answer or a log line can carry terminal escapes, control characters and marks that turn the direction of
writing around. They stay in the text, as signs: a page shows what is there, and nothing can hide or rewrite its surroundings.
"""

import re

_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_WIDTHLESS = (
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\uffa0\U000e0000-\U000e007f"
)
# Joiners belong to emoji and to several scripts; beside a letter of ASCII, or at an end, they join nothing.
_JOINERS = "(?<![^\x00-\x7f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f])"
_UNSEEN = re.compile(
    f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufff9-\ufffb{_DIRECTION}{_WIDTHLESS}\ud800-\udfff]|{_JOINERS}"
)
SIGN = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩|[\u2400-\u241f\u2421]")
"""What `visible` puts in place of a character."""
NO_BREAK = "\u00a0"
_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:\d{3}|[kMGT]|[kMGT]?B|ms|s|min|h|d|%|tok/s|req/s)(?![\w]))")

LINE_LIMIT = 2000
"""Characters of one log line on a page; the download has them all."""


def _sign(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else f"⟨U+{code:04X}⟩"


def visible(text: str) -> str:
    """The text with control pictures for control characters (`␛[31m`), and code points for other unseen ones.

    Tabs and line feeds stay.
    """
    return _UNSEEN.sub(_sign, text)


def unbroken(text: str) -> str:
    """The text with its numbers tied to their groups and units, so that no line ends within `10 000 tokens` or `7 h 24 min`."""
    return _BEFORE_UNIT.sub(NO_BREAK, text)


def cut(text: str, limit: int) -> tuple[str, int]:
    """The first `limit` characters, and how many were left out."""
    return text[:limit], max(0, len(text) - limit)


def plotly(text: str) -> str:
    """Text for Plotly, which reads `<b>`, `<a>` and `<br>` in labels and names."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
