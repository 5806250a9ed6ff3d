"""What a benchmark found, as bars and lines with their spread, against the baseline that was measured beside them."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from eagle3web.models import BenchmarkRow
from eagle3web.text import cut, plotly

NAME_LIMIT = 24
LOOKS: dict[str, dict[str, Any]] = {
    "lookup": {"color": "@series-2/22", "line": {"color": "@series-2", "width": 1.5}},
    "drafter": {"color": "@accent"},
}
WORDS = {"lookup": "prompt lookup", "drafter": "drafter"}
DASHES = {"lookup": "dash", "drafter": "solid"}
SYMBOLS = {"lookup": "diamond", "drafter": "circle"}
COLORS = {"lookup": "@series-2", "drafter": "@accent"}


def dataset_figure(rows: Sequence[BenchmarkRow]) -> dict[str, Any]:
    """Speedup by dataset at the lowest concurrency, whiskers from the lowest to the highest repetition; red below plain."""
    rows = _at_lowest(rows)
    names = sorted({row.dataset for row in rows})
    band = _band([row for row in rows if row.mode == "plain"])
    data = []
    for mode in WORDS:
        found = {row.dataset: row for row in _fastest(rows, mode, key=lambda row: row.dataset)}
        own = [found[name] for name in names if name in found]
        data.append(_bars(mode, [_name(row.dataset) for row in own], own))
    return {
        "data": data,
        "layout": {
            "yaxis": {"title": {"text": "× plain decoding"}, "tickformat": ".1f", "rangemode": "tozero"},
            "xaxis": {"type": "category", "categoryarray": [_name(name) for name in names]},
            "barmode": "group",
            "hovermode": "closest",
            "bargap": 0.38,
            "margin": {"t": 16, "r": 92},
            "uniformtext": {"mode": "hide", "minsize": 9},
            "shapes": [*band, _line_at_one()],
            "annotations": [_baseline_label(rows)],
        },
        "narrow": {"margin": {"r": 16, "b": 72}, "xaxis": {"tickangle": -40}, "annotations": []},
    }


def concurrency_figure(rows: Sequence[BenchmarkRow]) -> dict[str, Any]:
    """Speedup by concurrency, over all datasets."""
    ticks = sorted({row.concurrency for row in rows})
    plain = sorted((row for row in rows if row.mode == "plain"), key=lambda row: row.concurrency)
    data = [_baseline_trace(plain)]
    labels = []
    for mode in WORDS:
        own = sorted(_fastest(rows, mode, key=lambda row: row.concurrency), key=lambda row: row.concurrency)
        data.append(_trace(mode, own))
        if own:
            label = {"x": _log(own[-1].concurrency), "y": own[-1].speedup, "text": WORDS[mode], "xanchor": "left", "xshift": 8}
            labels.append(label | {"showarrow": False, "font": {"color": COLORS[mode], "size": 11}})
    return {
        "data": data,
        "layout": {
            "yaxis": {"title": {"text": "× plain decoding"}, "tickformat": ".1f", "rangemode": "tozero"},
            "xaxis": {
                "type": "log", "title": {"text": "concurrent requests"}, "tickvals": ticks,
                "ticktext": [str(tick) for tick in ticks],
            },
            "hovermode": "closest",
            "margin": {"r": 104},
            "annotations": labels,
        },
    }  # fmt: skip


def position_figure(rows: Sequence[BenchmarkRow]) -> dict[str, Any]:
    """Share of drafts accepted at each position, given that it was reached."""
    rows = _at_lowest(rows)
    data = []
    for mode in WORDS:
        shares: list[Any] = next((row.acceptance for row in _fastest(rows, mode, key=lambda row: row.dataset)), [])
        known = [share for share in shares if isinstance(share, (int, float))]
        data.append(
            {
                "type": "bar", "name": WORDS[mode], "x": [str(place) for place in range(1, len(known) + 1)], "y": known,
                "marker": LOOKS[mode], "text": [f"{share:.0%}" for share in known], "textposition": "outside",
                "textfont": {"size": 11, "color": "@ink"}, "cliponaxis": False, "hovertemplate": "%{y:.1%}",
            }
        )  # fmt: skip
    return {
        "data": data,
        "layout": {
            "yaxis": {"title": {"text": "accepted, given reached"}, "tickformat": ".0%", "range": [0, 1.08]},
            "xaxis": {"title": {"text": "draft position"}, "type": "category"},
            "showlegend": True,
            "margin": {"t": 28},
            "hovermode": "closest",
        },
    }


def _at_lowest(rows: Sequence[BenchmarkRow]) -> list[BenchmarkRow]:
    lowest = min((row.concurrency for row in rows), default=0)
    return [row for row in rows if row.concurrency == lowest]


def _fastest(rows: Sequence[BenchmarkRow], mode: str, *, key: Callable[[BenchmarkRow], str | int]) -> list[BenchmarkRow]:
    """The mode's fastest shape for each value of `key`, of rows that have a speedup."""
    found: dict[str | int, BenchmarkRow] = {}
    for row in rows:
        if row.mode == mode and row.speedup is not None:
            best = found.get(key(row))
            found[key(row)] = row if best is None or row.tokens_per_s > best.tokens_per_s else best
    return list(found.values())


def _bars(mode: str, names: list[str], rows: Sequence[BenchmarkRow]) -> dict[str, Any]:
    marker = dict(LOOKS[mode])
    if mode == "drafter":
        marker["color"] = ["@failed" if (row.speedup or 0) < 1 else "@accent" for row in rows]
    return {
        "type": "bar", "name": WORDS[mode], "x": names, "y": [row.speedup for row in rows], "marker": marker,
        "error_y": _spread(rows, "@ink"), "text": [f"{row.speedup:.2f}" for row in rows], "textposition": "inside",
        "insidetextanchor": "start", "textangle": 0,
        "textfont": {"color": "@on-bar" if mode == "drafter" else "@ink", "size": 11},
        "hovertemplate": "%{x}: %{y:.2f}×<extra></extra>",
    }  # fmt: skip


def _trace(mode: str, rows: Sequence[BenchmarkRow]) -> dict[str, Any]:
    color = COLORS[mode]
    return {
        "type": "scatter", "mode": "lines+markers", "name": WORDS[mode], "x": [row.concurrency for row in rows],
        "y": [row.speedup for row in rows], "line": {"color": color, "width": 2, "dash": DASHES[mode]},
        "marker": {"size": 7, "color": color, "symbol": SYMBOLS[mode]}, "error_y": _spread(rows, color),
    }  # fmt: skip


def _baseline_trace(rows: Sequence[BenchmarkRow]) -> dict[str, Any]:
    known = [row for row in rows if row.tokens_per_s]
    return {
        "type": "scatter", "mode": "lines+markers", "name": "plain", "x": [row.concurrency for row in known],
        "y": [1] * len(known), "line": {"color": "@baseline", "width": 2, "dash": "dot"},
        "marker": {"size": 7, "color": "@baseline", "symbol": "circle-open"},
        "error_y": {
            "type": "data", "symmetric": False, "array": [row.tokens_per_s_high / row.tokens_per_s - 1 for row in known],
            "arrayminus": [1 - row.tokens_per_s_low / row.tokens_per_s for row in known], "color": "@baseline",
            "thickness": 1.25, "width": 3,
        },
    }  # fmt: skip


def _spread(rows: Sequence[BenchmarkRow], color: str) -> dict[str, Any]:
    return {
        "type": "data", "symmetric": False, "color": color, "thickness": 1.25, "width": 4,
        "array": [max(0.0, (row.speedup_high or 0) - (row.speedup or 0)) for row in rows],
        "arrayminus": [max(0.0, (row.speedup or 0) - (row.speedup_low or 0)) for row in rows],
    }  # fmt: skip


def _band(plain: Sequence[BenchmarkRow]) -> list[dict[str, Any]]:
    """How far repetitions of plain decoding lie apart: within it, a difference means nothing."""
    known = [row for row in plain if row.tokens_per_s]
    if not known:
        return []
    low = min(row.tokens_per_s_low / row.tokens_per_s for row in known)
    high = max(row.tokens_per_s_high / row.tokens_per_s for row in known)
    edges = {"xref": "paper", "x0": 0, "x1": 1, "y0": low, "y1": high}
    return [{"type": "rect", **edges, "fillcolor": "@baseline/30", "line": {"width": 0}, "layer": "below"}]


def _line_at_one() -> dict[str, Any]:
    return {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1, "line": {"color": "@ink", "width": 1.5}}


def _baseline_label(rows: Sequence[BenchmarkRow]) -> dict[str, Any]:
    words = "plain = 1.00" if any(row.mode == "plain" for row in rows) else ""
    return {
        "xref": "paper", "x": 1, "y": 1, "text": words, "showarrow": False, "xanchor": "left", "xshift": 6,
        "font": {"color": "@ink", "size": 11},
    }  # fmt: skip


def _name(dataset: str) -> str:
    return plotly(cut(dataset, NAME_LIMIT)[0])


def _log(value: int) -> float:
    """Where a label stands on a logarithmic axis."""
    return math.log10(value) if value > 0 else 0.0
