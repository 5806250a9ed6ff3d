"""Tokens over time: one line for each dataset, labelled at its end; dashed lines are budgets."""

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
NAME_LIMIT = 24
PLOT_PX = 190
"""Height of the plot, about."""
LABEL_PX = 13
"""Height of a label."""


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
        labels.append(_label(series, name, style["color"], x[-1:], y[-1:]))
    goals = sorted({goal for goal in budgets.values() if goal})
    _spread(labels, top=max([*goals, *(label["y"] for label in labels)], default=0))
    return {
        "data": data,
        "layout": {
            "xaxis": {"type": "date", "nticks": 8},
            "yaxis": {"title": {"text": "tokens"}, "tickformat": "~s"},
            "margin": {"r": 116, "t": 16},
            "hoverlabel": {"namelength": -1},
            "shapes": [_goal_line(goal) for goal in goals],
            "annotations": labels + [_goal_label(goal) for goal in goals[-1:]],
        },
        "narrow": {"margin": {"r": 84}, "xaxis": {"nticks": 4}},
    }


def _spread(labels: list[dict[str, Any]], *, top: float) -> None:
    """Push labels of lines that end close together apart, from the lowest up; most sets end at one and the same budget."""
    floor = -LABEL_PX
    for label in sorted((label for label in labels if label["visible"] and top), key=lambda label: float(label["y"])):
        at = label["y"] / top * PLOT_PX
        floor = max(at, floor + LABEL_PX)
        label["yshift"] = round(floor - at)


def _label(series: str, name: str, color: Any, x: list[int], y: list[float]) -> dict[str, Any]:  # noqa: ANN401  (a style's value)
    return {
        "name": series,
        "x": x[0] if x else 0,
        "y": y[0] if y else 0,
        "text": f"{name} {tokens(y[0])}" if y else name,
        "visible": bool(x),
        "showarrow": False,
        "xanchor": "left",
        "xshift": 6,
        "font": {"color": color, "size": 11},
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
