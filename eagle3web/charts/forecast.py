"""What is still to do, dataset by dataset, with the range."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from eagle3web.text import cut, plotly

NAME_LIMIT = 24


@dataclass(frozen=True)
class Bar:
    name: str
    low: float
    likely: float
    high: float


def forecast_figure(bars: Sequence[Bar], *, unit: str) -> dict[str, Any]:
    """Horizontal bars, the first on top; whiskers show the range. `unit` names the axis, such as `hours`."""
    return {
        "data": [
            {
                "type": "bar",
                "orientation": "h",
                "name": unit,
                "y": [plotly(cut(bar.name, NAME_LIMIT)[0]) for bar in bars],
                "x": [bar.likely for bar in bars],
                "error_x": {
                    "type": "data",
                    "symmetric": False,
                    "array": [bar.high - bar.likely for bar in bars],
                    "arrayminus": [bar.likely - bar.low for bar in bars],
                    "color": "@ink",
                    "thickness": 1.5,
                    "width": 4,
                },
                "marker": {"color": "@accent/60"},
                "hovertemplate": "%{y}: %{x:.3s}<extra></extra>",
            }
        ],
        "layout": {
            "xaxis": {
                "title": {"text": unit},
                "rangemode": "tozero",
                "showgrid": True,
                "tickformat": "~s" if unit == "tokens" else "",
            },
            "yaxis": {"autorange": "reversed", "showgrid": False},
            "hovermode": "closest",
            "bargap": 0.4,
        },
    }
