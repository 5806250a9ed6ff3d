"""Lines of several runs in one chart. A run has the same colour and dash in all charts of the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LOOKS = (
    ("@accent", "solid"),
    ("@series-2", "dot"),
    ("@baseline", "dash"),
    ("@series-3", "dashdot"),
    ("@series-4", "longdash"),
    ("@ink", "longdashdot"),
)
"""By place among the compared runs."""
PLOT_PX = 200
LABEL_PX = 13
"""Heights of the plot, about, and of a label."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one run says about a metric."""

    place: int
    """Among the compared runs, from 0."""
    run: int
    points: Sequence[tuple[float, float]]


def compare_figure(lines: Sequence[Line], *, x: str, y: str, digits: int = 2, smooths: bool = False) -> dict[str, Any]:
    """With `smooths` the browser smooths the lines as far as the reader asks for it, and draws the raw ones faint."""
    labels = [_label(line, digits) for line in lines]
    _spread(labels, lines)
    return {
        "data": [_trace(line, smooths) for line in lines],
        "layout": {
            "xaxis": {"title": {"text": x}, "tickformat": "~s" if x == "step" else "~g", "rangemode": "tozero"},
            "yaxis": {"title": {"text": y}, "rangemode": "normal", "tickformat": "~g" if digits else "~s"},
            "margin": {"r": 96, "t": 20},
            "hoverlabel": {"namelength": -1},
            "annotations": labels,
        },
        "narrow": {"margin": {"r": 84}, "xaxis": {"nticks": 4}},
    }


def _trace(line: Line, smooths: bool) -> dict[str, Any]:
    color, dash = LOOKS[line.place]
    return {
        "type": "scatter", "mode": "lines" if len(line.points) > 1 else "markers",
        "name": f"r{line.run}", "meta": f"r{line.run}",
        "x": [x for x, _ in line.points], "y": [y for _, y in line.points],
        "line": {"color": color, "width": 1.5, "dash": dash}, "marker": {"color": color, "size": 7}, "smooths": smooths,
    }  # fmt: skip


def _label(line: Line, digits: int) -> dict[str, Any]:
    x, y = line.points[-1]
    written = f"{y:.{digits}f}" if digits else _short(y)
    return {
        "name": f"r{line.run}", "x": x, "y": y, "text": f"r{line.run} {written}", "showarrow": False, "xanchor": "left",
        "xshift": 8, "yshift": 0, "font": {"color": LOOKS[line.place][0].replace("@baseline", "@muted"), "size": 11},
    }  # fmt: skip


def _short(value: float) -> str:
    for size, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.2f}{unit}"
    return f"{value:g}"


def _spread(labels: list[dict[str, Any]], lines: Sequence[Line]) -> None:
    """Lift labels that would cover each other; their lines may end anywhere, so all count as neighbours."""
    values = [y for line in lines for _, y in line.points]
    span = (max(values) - min(values) if values else 0) or 1
    above = None
    for label in sorted(labels, key=lambda label: -float(label["y"])):
        wanted = PLOT_PX * float(label["y"]) / span
        at = wanted if above is None else min(wanted, above - LABEL_PX)
        label["yshift"] = round(at - wanted)
        above = at
