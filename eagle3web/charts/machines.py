"""What hosts and engines did over time. Lines grow by socket, found by their `meta`; the window moves with them."""

from collections.abc import Mapping, Sequence
from typing import Any

from eagle3web.text import cut, plotly

Lines = Mapping[str, Sequence[tuple[int, float | None]]]
COLORS = ("@accent", "@series-2", "@series-3", "@series-4")
DASHES = ("solid", "dash", "dot", "dashdot")
STYLES = [
    {"color": color, "width": 1.5, "dash": DASHES[(place + turn) % len(DASHES)]}
    for turn in range(len(DASHES))
    for place, color in enumerate(COLORS)
]
"""Lines that meet differ in colour and in dash."""
LOADS = (("cpu", "CPU"), ("memory", "memory"), ("disk", "disk"))
NAME_LIMIT = 24


def load_figure(lines: Lines, window: "Window") -> dict[str, Any]:
    """CPU, memory and disk of a host in percent."""
    return _percent(_figure(lines, LOADS, window))


def gpu_figure(lines: Lines, what: str, indexes: Sequence[int], window: "Window") -> dict[str, Any]:
    """`what` is `gpu` (utilisation) or `gpu-memory`; one line for each GPU, in percent."""
    return _percent(_figure(lines, [(f"{what}/{index}", f"GPU {index}") for index in indexes], window))


def engine_figure(lines: Lines, what: str, engines: Sequence[tuple[int, str]], window: "Window") -> dict[str, Any]:
    """`what` is `rate`, `queue` or `accept`; one line for each engine (key, name)."""
    figure = _figure(lines, [(f"{what}/{key}", name) for key, name in engines], window)
    figure["layout"]["yaxis"] |= {"rangemode": "normal" if what == "accept" else "tozero"}
    return figure


class Window:
    """The stretch of time that a chart shows, in milliseconds; gaps longer than `gap_ms` break its lines."""

    def __init__(self, *, now_ms: int, length_ms: int, gap_ms: int) -> None:
        self.range = [now_ms - length_ms, now_ms]
        self.meta = {"window": length_ms, "gap": gap_ms}


def _figure(lines: Lines, names: Sequence[tuple[str, str]], window: Window) -> dict[str, Any]:
    data = []
    for i, (meta, name) in enumerate(names):
        points = lines.get(meta, ())
        shown = plotly(cut(name, NAME_LIMIT)[0])
        data.append(
            {
                "type": "scatter", "mode": "lines", "name": shown, "meta": meta, "line": STYLES[i % len(STYLES)],
                "x": [at for at, _ in points], "y": [value for _, value in points],
            }
        )  # fmt: skip
    return {
        "data": data,
        "layout": {
            "meta": window.meta,
            "xaxis": {"type": "date", "nticks": 6, "range": window.range},
            "yaxis": {"rangemode": "tozero"},
            "margin": {"r": 16, "t": 28},
            "showlegend": len(data) > 1,
            "hoverlabel": {"namelength": -1},
        },
        "narrow": {"xaxis": {"nticks": 4}},
    }


def _percent(figure: dict[str, Any]) -> dict[str, Any]:
    figure["layout"]["yaxis"] |= {"range": [0, 100], "ticksuffix": "\u00a0%", "nticks": 5}
    return figure
