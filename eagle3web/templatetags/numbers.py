"""Filters for numbers and for untrusted text: `{{ progress.tokens|tokens }}`."""

from collections.abc import Callable

from django import template

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


@register.filter("visible")
def visible_filter(value: object) -> str:
    """Signs for what cannot be seen; escaping follows as everywhere."""
    return visible(str(value))
