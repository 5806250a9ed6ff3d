"""Tokens over time: one line for each dataset, with a column of their names and newest values; level dashes are budgets."""

from collections.abc import Mapping, Sequence
from typing import Any

from eagle3web.formats import tokens
from eagle3web.text import cut, plotly

STYLES = [
    {"color": color, "width": 2, "dash": dash}
    for dash in ("solid", "dash", "dot")
    for color in ("@accent", "@series-2", "@series-3", "@series-4")
]
"""Colours that stay apart, and a dash where they come round again."""
MARKS = {"solid": "\u2014", "dash": "--", "dot": "\u00b7\u00b7"}
"""The dash of a line, beside its name."""
NAME_LIMIT = 24
LABEL_PX = 15
"""Height of a label."""
ROWS = 12
"""Labels that fit beside the plot; the table above the chart has every dataset."""


def tokens_figure(points: Sequence[tuple[str, int, float]], budgets: Mapping[str, int | None]) -> dict[str, Any]:
    """`points` are (series, milliseconds, tokens); `budgets` names all datasets of the run, in order.

    A dataset without points has an empty line already: points that come later find their line by its `meta`.
    """
    lines: dict[str, tuple[list[int], list[float]]] = {name: ([], []) for name in budgets}
    for series, at, value in points:
        x, y = lines.setdefault(series, ([], []))
        x.append(at)
        y.append(value)
    data, labels = [], []
    for i, (series, (x, y)) in enumerate(lines.items()):
        style = STYLES[i % len(STYLES)]
        name = plotly(cut(series, NAME_LIMIT)[0])
        data.append({"type": "scatter", "mode": "lines", "name": name, "meta": series, "x": x, "y": y, "line": style})
        if i < ROWS:
            labels.append(_label(series, name, style, y[-1:], i))
    goals = sorted({goal for goal in budgets.values() if goal})
    return {
        "data": data,
        "layout": {
            "xaxis": {"type": "date", "nticks": 8},
            "yaxis": {"title": {"text": "tokens"}, "tickformat": "~s"},
            "margin": {"r": 132, "t": 16},
            "hoverlabel": {"namelength": -1},
            "shapes": [_goal_line(goal) for goal in goals],
            "annotations": labels + [_goal_label(goal) for goal in goals[-1:]],
        },
        "narrow": {"xaxis": {"nticks": 3}},
    }


def _label(series: str, name: str, style: dict[str, Any], y: list[float], row: int) -> dict[str, Any]:
    """A row of the column at the right. At the ends of their lines, most of them at one budget, they would cover each other."""
    mark = MARKS[style["dash"]]
    return {
        "name": series,
        "xref": "paper",
        "yref": "paper",
        "x": 1,
        "y": 1,
        "mark": mark,
        "text": f"{mark} {name} {tokens(y[0])}" if y else f"{mark} {name}",
        "visible": bool(y),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "top",
        "xshift": 6,
        "yshift": -LABEL_PX * row,
        "font": {"color": style["color"], "size": 11},
    }


def _goal_line(goal: int) -> dict[str, Any]:
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": goal, "y1": goal,
        "line": {"color": "@ink", "width": 1.5, "dash": "dash"},
    }  # fmt: skip


def _goal_label(goal: int) -> dict[str, Any]:
    return {
        "xref": "paper", "x": 0, "y": goal, "text": f"budget {tokens(goal)}", "showarrow": False, "xanchor": "left",
        "yanchor": "bottom", "font": {"color": "@ink", "size": 11},
    }  # fmt: skip
