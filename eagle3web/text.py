"""Untrusted text made safe to look at: what cannot be seen gets a visible sign. Escaping is the template's work.

A prompt, an answer or a log line can carry terminal escapes, control characters and marks that turn the direction of
writing around. They stay in the text, as signs: a page shows what is there, and nothing can hide or rewrite its surroundings.
"""

import re

_DIRECTION = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_UNSEEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufff9-\ufffb{_DIRECTION}\ud800-\udfff]")

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


def cut(text: str, limit: int) -> tuple[str, int]:
    """The first `limit` characters, and how many were left out."""
    return text[:limit], max(0, len(text) - limit)


def plotly(text: str) -> str:
    """Text for Plotly, which reads `<b>`, `<a>` and `<br>` in labels and names."""
    return visible(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
