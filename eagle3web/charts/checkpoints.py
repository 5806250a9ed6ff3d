"""The project's best drafter over time: accept length and speedup as steps, and what was promoted when."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from eagle3web.text import plotly

LABELLED = 3
"""Promotions that are named; more would cover one another."""
Points = Sequence[tuple[datetime, float, str]]


def timeline_figure(*, lengths: Points, speedups: Points, promotions: Sequence[tuple[datetime, str]]) -> dict[str, Any] | None:
    """Moments with values and names, the oldest first. None while nothing was decoded or measured."""
    if not lengths and not speedups:
        return None
    moments = [point[0] for point in (*lengths, *speedups)] + [at for at, _ in promotions]
    end = max(moments)
    data = [_each(lengths), _best("accept length, best so far", lengths, end, color="@accent", dash="solid", symbol="circle")]
    if speedups:
        best = _best("speedup, best so far", speedups, end, color="@series-2", dash="dash", symbol="diamond")
        data.append(best | {"yaxis": "y2"})
    return {
        "data": data,
        "layout": {
            "xaxis": {"type": "date"},
            "yaxis": {"title": {"text": "accept length"}, "rangemode": "normal", "tickformat": ".2f"},
            "yaxis2": {
                "title": {"text": "× plain decoding"}, "overlaying": "y", "side": "right", "rangemode": "normal",
                "tickformat": ".2f",
            },
            "hovermode": "closest",
            "showlegend": True,
            "margin": {"t": 44, "r": 56},
            "shapes": [_line(at) for at, _ in promotions],
            "annotations": [_label(at, name) for at, name in promotions[-LABELLED:]],
        },
        "narrow": {"xaxis": {"nticks": 4}, "annotations": []},
    }  # fmt: skip


def _each(points: Points) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "name": "each checkpoint", "x": [_ms(at) for at, *_ in points],
        "y": [value for _, value, _ in points], "text": [plotly(name) for *_, name in points],
        "marker": {"color": "@baseline", "size": 5, "symbol": "circle-open"},
        "hovertemplate": "%{text}: %{y:.2f}<extra></extra>",
    }  # fmt: skip


def _best(name: str, points: Points, end: datetime, *, color: str, dash: str, symbol: str) -> dict[str, Any]:
    """Only what beat everything before, as steps that go on to the end, where no mark stands."""
    steps: list[tuple[datetime, float, str]] = []
    for at, value, what in points:
        if not steps or value > steps[-1][1]:
            steps.append((at, value, what))
    sizes = [7] * len(steps)
    if steps and end > steps[-1][0]:
        steps.append((end, steps[-1][1], steps[-1][2]))
        sizes.append(0)
    return {
        "type": "scatter", "mode": "lines+markers", "name": name, "x": [_ms(at) for at, *_ in steps],
        "y": [value for _, value, _ in steps], "text": [plotly(what) for *_, what in steps],
        "line": {"color": color, "width": 2, "shape": "hv", "dash": dash},
        "marker": {"color": color, "size": sizes, "symbol": symbol},
        "hovertemplate": "%{text}: %{y:.2f}<extra></extra>",
    }  # fmt: skip


def _line(at: datetime) -> dict[str, Any]:
    line = {"color": "@finished", "width": 1, "dash": "dot"}
    return {"type": "line", "x0": _ms(at), "x1": _ms(at), "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _label(at: datetime, name: str) -> dict[str, Any]:
    return {
        "x": _ms(at), "yref": "paper", "y": 1, "text": f"{plotly(name)} promoted", "showarrow": False, "xanchor": "right",
        "xshift": -4, "yanchor": "top", "font": {"color": "@finished-ink", "size": 11},
    }  # fmt: skip


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)
