"""The small marks that pages are made of: icons, state pills, clocks, moments, budget bars, charts."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from django import template
from django.utils import timezone
from django.utils.html import format_html, json_script
from django.utils.safestring import SafeString

from eagle3web.text import visible

register = template.Library()

LOOKS = {"healthy": "finished", "loading": "starting", "hanging": "silent", "down": "failed", "unknown": "pending",
         "proposed": "queued", "approved": "finished", "rejected": "failed",
         "importing": "starting", "ready": "finished", "disabled": "stopped", "truncated": "silent",
         "success": "finished", "error": "failed", "warning": "silent", "info": "pending"}  # fmt: skip
"""Words that borrow colour and shape from a state."""
MOVING = frozenset({"running"})


@register.filter
def look(word: str) -> str:
    """The state whose colour and shape a word has."""
    return LOOKS.get(word, word)


@register.simple_tag
def icon(name: str, classes: str = "") -> SafeString:
    """A decorative icon; the word stands beside it."""
    return format_html('<svg class="icon {}" aria-hidden="true"><use href="#i-{}"/></svg>', classes, name)


@register.simple_tag
def state_icon(state: str) -> SafeString:
    look = LOOKS.get(state, state)
    return format_html('<svg class="icon st-icon" data-state="{}" aria-hidden="true"><use href="#i-st-{}"/></svg>', look, look)


@register.simple_tag
def pill(state: str, words: str = "") -> SafeString:
    """Colour, shape and word of a state."""
    look = LOOKS.get(state, state)
    mark = icon(f"st-{look}", "icon-s pulse" if state in MOVING else "icon-s")
    return format_html('<span class="pill" data-state="{}">{}{}</span>', look, mark, words or state)


@register.simple_tag
def moment(at: datetime | str | None, how: str = "clock") -> SafeString:
    """A point in time. Browsers write it in the reader's zone: `clock` 12:24:12 CET, `day` with the day where it is not today,
    `short` without the zone, `ago` 4 s ago, `age` 4 s; without a script it is the time in the zone of the request, or of
    the site where many read the same fragment."""
    if not isinstance(at, datetime):  # None, or the empty string of what a template does not find
        return format_html('<span class="faint">{}</span>', "–")
    stamp = at.astimezone(UTC)
    return format_html(
        '<time datetime="{}" data-as="{}">{}</time>',
        stamp.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        how,
        f"{timezone.localtime(at):%Y-%m-%d %H:%M:%S %Z}",
    )


@register.simple_tag
def clock(since: datetime | str | None, limit_s: float, state: str = "") -> SafeString:
    """An age that ticks, and a bar that fills up to the threshold; `state` colours it once it has caused that state."""
    if not isinstance(since, datetime):
        return format_html('<span class="faint">{}</span>', "–")
    return format_html(
        '<span class="clock" data-limit="{}"{}><svg aria-hidden="true"><rect width="0"/></svg><b>{}</b></span>',
        limit_s,
        format_html(' data-state="{}"', state) if state else "",
        moment(since, "age"),
    )


@register.simple_tag
def budget_bar(
    name: str, state: str, done: float, in_flight: float, goal: float | None, scale: float, words: str
) -> SafeString:
    """Done, in flight, remaining and over, in one bar. All bars of a list share `scale`. Without a goal there is no bar."""
    if goal is None or scale <= 0:
        return SafeString("")

    def share(value: float) -> str:
        return f"{min(100.0, 100 * value / scale):.2f}%"

    inside, over = min(done, goal), max(0.0, done - goal)
    parts = [format_html('<rect class="track" width="{}" height="100%" rx="2"/>', share(goal))]
    if inside:
        parts.append(format_html('<rect class="done" width="{}" height="100%" rx="2"/>', share(inside)))
    for kind, start, width in (("over", goal, over), ("fly", done, in_flight)):
        if width > 0:
            for layer in (kind, "hatch"):
                parts.append(
                    format_html('<rect class="{}" x="{}" width="{}" height="100%"/>', layer, share(start), share(width))
                )
    parts.append(format_html('<line class="goal" x1="{}" x2="{}" y1="-3" y2="11"/>', share(goal), share(goal)))
    return format_html(
        '<svg class="bar" data-state="{}" role="img" aria-label="{}: {}">{}</svg>',
        state,
        visible(name),
        words,
        SafeString("".join(parts)),  # nosec B703
    )


@register.simple_tag
def progress_bar(share: float | str | None, state: str, words: str) -> SafeString:
    """How much of something is done; no bar while that is not known."""
    if not isinstance(share, (int, float)):
        return SafeString("")
    return format_html(
        '<svg class="bar" data-state="{}" role="img" aria-label="{}"><rect class="track" width="100%" height="100%" rx="2"/>'
        '<rect class="done" width="{}%" height="100%" rx="2"/></svg>',
        state,
        words,
        f"{100 * min(1.0, max(0.0, share)):.2f}",
    )


@register.simple_tag
def spark(values: Sequence[float], words: str) -> SafeString:
    """A small line from zero, for a trend beside a number."""
    top = max(values, default=0) or 1
    points = " ".join(f"{i},{96 - 92 * value / top:.1f}" for i, value in enumerate(values))
    last = max(1, len(values) - 1)
    return format_html(
        '<svg class="spark" viewBox="0 0 {} 100" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<polygon points="0,100 {} {},100"/><polyline points="{}"/></svg>',
        last, words, points, last, points,
    )  # fmt: skip


@register.simple_tag
def figure(
    key: str,
    title: str,
    data: Mapping[str, Any],
    classes: str = "",
    points_after: int | None = None,
    written: str = "tokens",
    points_url: str = "",
) -> SafeString:
    """A chart that charts.js draws from the figure inside it.

    With `points_after` it is live: newer points come by socket, and the labels at the ends of its lines write their values as
    `tokens`, `decimal` or `percent`. With `points_url` a part that somebody zooms into is loaded from there in full.
    """
    after = format_html(' data-after="{}" data-written="{}"', points_after, written) if points_after is not None else ""
    whole = format_html(' data-points="{}"', points_url) if points_url else ""
    return format_html(
        '<div class="chart {}" id="{}" role="img" aria-label="{}"{}{}>{}</div>',
        classes, key, title, after, whole, json_script(data),
    )  # fmt: skip


@register.simple_tag
def numbers_button(key: str, title: str) -> SafeString:
    """Shows the numbers of a chart as a table."""
    return format_html(
        '<button class="btn btn-quiet btn-icon btn-s" type="button" data-numbers aria-controls="{}" aria-expanded="false" '
        'aria-label="Show the numbers of “{}” as a table" title="Numbers as a table">{}</button>',
        key,
        title,
        icon("table"),
    )
