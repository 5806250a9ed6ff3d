"""What is left of the budgets over time, with the forecast's band, and the budgets as steps on the same axis."""

from collections.abc import Sequence
from typing import Any

from eagle3web.formats import tokens
from pipeline.budget import Range

Line = Sequence[tuple[int, float]]
"""(milliseconds, tokens)."""
FARTHEST = 2.0
"""The axis ends at the likely end, or at most so many times the way there when the range is wide."""


def burn_down_figure(remaining: Line, asked: Line, used: Line, ends: Range | None) -> dict[str, Any]:
    """`ends` is when nothing is left, in milliseconds."""
    if not remaining:
        return {"data": [], "layout": {"xaxis": {"type": "date"}}}
    now, left = remaining[-1]
    data = [
        _trace("asked", asked, {"color": "@ink", "width": 2, "shape": "hv"}),
        _trace("used by the process", used, {"color": "@series-2", "width": 2, "dash": "dash", "shape": "hv"}),
        {
            **_trace("left", remaining, {"color": "@accent", "width": 2}),
            "fill": "tozeroy",
            "fillcolor": "@accent/12",
        },
    ]
    layout: dict[str, Any] = {
        "xaxis": {"type": "date", "nticks": 8},
        "yaxis": {"title": {"text": "tokens"}, "tickformat": "~s"},
        "margin": {"r": 116, "t": 20},
        "hoverlabel": {"namelength": -1},
        "annotations": [_label(now, left, f"left {tokens(left)}", "@accent", above=True), *_budget_labels(asked, used)],
    }
    if ends is not None:
        data += _forecast(now, left, ends)
        layout["xaxis"]["range"] = [remaining[0][0], min(ends.high, now + FARTHEST * (ends.likely - now))]
    return {"data": data, "layout": layout, "narrow": {"margin": {"r": 20}, "xaxis": {"nticks": 4}}}


def _trace(name: str, line: Line, style: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "lines", "name": name, "x": [at for at, _ in line], "y": [y for _, y in line], "line": style,
    }  # fmt: skip


def _forecast(now: int, left: float, ends: Range) -> list[dict[str, Any]]:
    band = {
        "type": "scatter", "mode": "lines", "name": "range", "meta": "guide", "hoverinfo": "skip",
        "x": [now, round(ends.low), round(ends.high), now], "y": [left, 0, 0, left],
        "line": {"width": 0, "color": "@accent"}, "fill": "toself", "fillcolor": "@accent/22",
    }  # fmt: skip
    likely = {
        "type": "scatter", "mode": "lines", "name": "forecast", "meta": "guide", "x": [now, round(ends.likely)], "y": [left, 0],
        "line": {"color": "@accent", "width": 1.5, "dash": "dot"}, "hoverinfo": "skip",
    }  # fmt: skip
    return [band, likely]


def _budget_labels(asked: Line, used: Line) -> list[dict[str, Any]]:
    """One label where both are the same, as they are most of the time."""
    if not asked:
        return []
    at, wanted = asked[-1]
    labels = [_label(at, wanted, f"asked {tokens(wanted)}", "@ink", above=True)]
    if used and used[-1][1] != wanted:
        labels.append(_label(used[-1][0], used[-1][1], f"used {tokens(used[-1][1])}", "@series-2", above=used[-1][1] > wanted))
    return labels


def _label(x: int, y: float, text: str, color: str, *, above: bool) -> dict[str, Any]:
    return {
        "x": x, "y": y, "text": text, "showarrow": False, "xanchor": "left", "yanchor": "bottom" if above else "top",
        "xshift": 6, "font": {"color": color, "size": 11},
    }  # fmt: skip
