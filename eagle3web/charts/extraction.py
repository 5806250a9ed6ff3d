"""What extraction has read and written, over time, towards what it expects."""

from collections.abc import Callable, Sequence
from typing import Any

from eagle3web.formats import size, tokens


def read_figure(points: Sequence[tuple[str, int, float]], goal: int) -> dict[str, Any]:
    """Tokens read. `points` are (line, milliseconds, tokens)."""
    return _growth("tokens", points, goal, title="tokens", goal_word="all", write=tokens)


def disk_figure(points: Sequence[tuple[str, int, float]], forecast: int) -> dict[str, Any]:
    """Bytes on disk."""
    return _growth("bytes", points, forecast, title="bytes", goal_word="forecast", write=size)


def _growth(
    line: str,
    points: Sequence[tuple[str, int, float]],
    goal: int,
    *,
    title: str,
    goal_word: str,
    write: Callable[[float], str],
) -> dict[str, Any]:
    x, y = [at for _, at, _ in points], [value for _, _, value in points]
    dashed = {"color": "@ink", "width": 1.5, "dash": "dash"}
    goal_line = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": goal, "y1": goal, "line": dashed}
    goal_label = {
        "xref": "paper", "x": 0, "y": goal, "text": f"{goal_word} {write(goal)}", "showarrow": False, "xanchor": "left",
        "yanchor": "bottom", "font": {"color": "@ink", "size": 11},
    }  # fmt: skip
    style = {"color": "@accent", "width": 2}
    return {
        "data": [{"type": "scatter", "mode": "lines", "name": title, "meta": line, "x": x, "y": y, "line": style}],
        "layout": {
            "xaxis": {"type": "date", "nticks": 6},
            "yaxis": {"title": {"text": title}, "tickformat": "~s"},
            "margin": {"t": 24},
            "shapes": [goal_line] if goal else [],
            "annotations": [goal_label] if goal else [],
        },
        "narrow": {"xaxis": {"nticks": 4}},
    }
