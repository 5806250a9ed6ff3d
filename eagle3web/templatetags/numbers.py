"""Filters for numbers and for untrusted text: `{{ progress.tokens|tokens }}`."""

import unicodedata
from collections.abc import Callable
from pathlib import PurePath

from django import template
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from eagle3web import formats
from eagle3web.text import NO_BREAK, SIGN, unbroken, visible

register = template.Library()


def _filter(name: str, write: Callable[[float | None], str]) -> None:
    def filtered(value: float | str | None) -> str:
        # What a template does not find is an empty string.
        return write(None if isinstance(value, str) else value).replace(" ", NO_BREAK)

    register.filter(name, filtered)


_filter("count", formats.count)
_filter("short", formats.short)
_filter("tokens", formats.tokens)
_filter("rate", formats.rate)
_filter("percent", formats.percent)
_filter("duration", formats.duration)
_filter("bytes", formats.size)
_filter("decimal", formats.decimal)
_filter("times", formats.times)
_filter("milliseconds", formats.milliseconds)


@register.filter("visible")
def visible_filter(value: object) -> str:
    """Signs for what cannot be seen; escaping follows as everywhere."""
    return visible(str(value))


@register.filter
def signs(text: str) -> SafeString:
    """Visible text, escaped, with each sign of an unseen character as a small mark that says its name on hover."""
    parts, end = [], 0
    for found in SIGN.finditer(text):
        code = int(found[1], 16) if found[1] else (ord(found[0]) - 0x2400 if found[0] != "\u2421" else 0x7F)
        name = unicodedata.name(chr(code), "") or f"control character {code:#04x}"
        parts += [escape(text[end : found.start()]), format_html('<span class="unseen" title="{}">{}</span>', name, found[0])]
        end = found.end()
    return mark_safe("".join([*parts, escape(text[end:])]))  # noqa: S308  (every part is escaped)  # nosec B308 B703


@register.filter("unbroken")
def unbroken_filter(text: object) -> str:
    """No line ends between a number and its unit; escaping follows as everywhere."""
    return unbroken(str(text))


@register.filter
def model(path: object) -> SafeString:
    """A model as people call it: the last part of an absolute path, with the path on hover; `org/model` stays whole."""
    whole = visible(str(path))
    name = PurePath(whole).name
    return (
        format_html('<span title="{}">{}</span>', whole, name) if whole.startswith("/") and name else format_html("{}", whole)
    )


@register.filter
def mode_words(mode: str) -> str:
    """How a benchmark decoded."""
    return {"plain": "plain decoding", "lookup": "prompt lookup"}.get(mode, visible(mode))
