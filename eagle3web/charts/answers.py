"""A dataset's answers in four small charts."""

from collections.abc import Sequence
from typing import Any

from eagle3web.charts.lengths import histogram
from eagle3web.text import plotly

END_WORDS = {"stop": "ended by itself", "length": "cut off", "error": "error"}
END_COLORS = {"stop": "@finished", "length": "@silent", "error": "@failed"}


def lengths_figure(edges: Sequence[int], counts: Sequence[int]) -> dict[str, Any]:
    return histogram(edges, counts, what="answers", unit="completion tokens")


def ends_figure(ends: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """How answers end; the colours are those of the states, and each bar has its word."""
    colors = [END_COLORS.get(name, "@pending") for name, _ in ends]
    return _bars([END_WORDS.get(name, name) for name, _ in ends], [count for _, count in ends], colors)


def languages_figure(languages: Sequence[tuple[str, int]]) -> dict[str, Any]:
    return _bars([name for name, _ in languages], [count for _, count in languages], "@accent")


def repetition_figure(tenths: Sequence[int], *, repetitive: int) -> dict[str, Any]:
    """Answers by the share of their four-token sequences that occurred before; what counts as repetitive stands out."""
    colors = ["@silent" if place >= repetitive else "@accent" for place in range(len(tenths))]
    return {
        "data": [
            {
                "type": "bar",
                "name": "answers",
                "x": [f"{10 * place}" for place in range(len(tenths))],
                "y": list(tenths),
                "marker": {"color": colors},
                "hovertemplate": "from %{x} %: %{y}<extra></extra>",
            }
        ],
        "layout": {
            "xaxis": {"type": "category", "title": {"text": "% repeated, from"}},
            "yaxis": {"title": {"text": "answers"}},
            "hovermode": "closest",
            "bargap": 0.1,
        },
    }


def _bars(names: Sequence[str], counts: Sequence[int], colors: str | Sequence[str]) -> dict[str, Any]:
    """Horizontal bars, the first on top."""
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "name": "answers",
                "y": [plotly(name) for name in names],
                "x": list(counts),
                "marker": {"color": colors if isinstance(colors, str) else list(colors)},
                "hovertemplate": "%{y}: %{x}<extra></extra>",
            }
        ],
        "layout": {
            "xaxis": {"title": {"text": "answers"}, "rangemode": "tozero", "showgrid": True, "tickformat": "~s", "nticks": 4},
            "yaxis": {"autorange": "reversed", "showgrid": False, "type": "category"},
            "hovermode": "closest",
            "bargap": 0.4,
        },
    }
