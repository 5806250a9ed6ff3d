"""What a served engine did over time: tokens a second, its queue, and how long its drafts were accepted."""

from collections.abc import Mapping, Sequence
from typing import Any

METRICS = ("tokens_per_s", "running", "waiting", "accept_length")
Lines = Mapping[str, Sequence[tuple[str, int, float]]]
"""Metric → (series, milliseconds, value)."""


def rate_figure(lines: Lines) -> dict[str, Any]:
    return _figure(lines, {"tokens_per_s": "tokens/s"}, title="tokens/s")


def queue_figure(lines: Lines) -> dict[str, Any]:
    return _figure(lines, {"running": "running", "waiting": "waiting"}, title="requests")


def accept_figure(lines: Lines) -> dict[str, Any]:
    figure = _figure(lines, {"accept_length": "accept length"}, title="tokens a verification")
    figure["layout"]["yaxis"]["rangemode"] = "normal"
    return figure


def _figure(lines: Lines, names: Mapping[str, str], *, title: str) -> dict[str, Any]:
    styles = ({"color": "@accent", "width": 2}, {"color": "@series-2", "width": 2, "dash": "dash"})
    data = [
        {
            "type": "scatter", "mode": "lines", "name": name, "meta": metric, "line": style,
            "x": [at for _, at, _ in lines.get(metric, ())], "y": [value for _, _, value in lines.get(metric, ())],
        }
        for (metric, name), style in zip(names.items(), styles, strict=False)
    ]  # fmt: skip
    return {
        "data": data,
        "layout": {
            "xaxis": {"type": "date", "nticks": 6},
            "yaxis": {"title": {"text": title}, "rangemode": "tozero"},
            "margin": {"t": 24},
            "showlegend": len(data) > 1,
        },
        "narrow": {"xaxis": {"nticks": 4}},
    }
