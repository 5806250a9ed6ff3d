"""Filters for numbers and for untrusted text: `{{ progress.tokens|tokens }}`."""

from collections.abc import Callable
from pathlib import PurePath

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from eagle3web import formats
from eagle3web.text import visible

register = template.Library()


def _filter(name: str, write: Callable[[float | None], str]) -> None:
    def filtered(value: float | str | None) -> str:
        # What a template does not find is an empty string.
        return write(None if isinstance(value, str) else value)

    register.filter(name, filtered)


_filter("count", formats.count)
_filter("short", formats.short)
_filter("tokens", formats.tokens)
_filter("rate", formats.rate)
_filter("percent", formats.percent)
_filter("duration", formats.duration)
_filter("bytes", formats.size)
_filter("times", formats.times)
_filter("milliseconds", formats.milliseconds)


@register.filter("visible")
def visible_filter(value: object) -> str:
    """Signs for what cannot be seen; escaping follows as everywhere."""
    return visible(str(value))


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
