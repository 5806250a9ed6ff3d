"""Histograms of lengths in tokens."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from eagle3web.formats import count
from eagle3web.text import plotly


def prompt_lengths_figure(lengths: Mapping[str, Any]) -> dict[str, Any]:
    """A revision's prompts by length; `lengths` is `DatasetRevision.token_lengths`."""
    edges, counts = lengths["edges"], lengths["counts"]
    mean = lengths.get("mean") or 0
    figure = histogram(edges, counts, what="prompts", unit="tokens of a prompt")
    figure["layout"]["shapes"] = [_marker(mean)]
    figure["layout"]["annotations"] = [_marker_label(mean, max(counts, default=1), f"mean {count(mean)}")]
    return figure


def answer_lengths_figure(found: Sequence[tuple[str, Sequence[int], Sequence[int]]]) -> dict[str, Any]:
    """`(dataset, edges, counts)` of each dataset, the last one visible; the page's selection shows another by its `meta`."""
    if not found:
        return {"data": [], "layout": {}}
    figures = [(name, histogram(edges, counts, what="answers", unit="completion tokens")) for name, edges, counts in found]
    traces = [
        {**figure["data"][0], "name": plotly(name), "meta": name, "visible": i == len(figures) - 1}
        for i, (name, figure) in enumerate(figures)
    ]
    layout = figures[-1][1]["layout"]
    layout["xaxis"] = {**layout["xaxis"], "range": None, "rangemode": "tozero"}
    return {"data": traces, "layout": layout}


def histogram(edges: Sequence[float], counts: Sequence[float], *, what: str, unit: str) -> dict[str, Any]:
    """Bars that touch, one a bin, from zero."""
    return {
        "data": [
            {
                "type": "bar",
                "name": what,
                "x": [(low + high) / 2 for low, high in pairwise(edges)],
                "y": list(counts),
                "width": [0.94 * (high - low) for low, high in pairwise(edges)],
                "customdata": [f"{count(low)} to {count(high - 1)}" for low, high in pairwise(edges)],
                "hovertemplate": "%{customdata} tokens: %{y}<extra></extra>",
                "marker": {"color": "@accent"},
            }
        ],
        "layout": {
            "xaxis": {"title": {"text": unit}, "range": [0, edges[-1] if len(edges) else 1], "tickformat": "~s"},
            "yaxis": {"title": {"text": what}},
            "hovermode": "closest",
        },
    }


def _marker(x: float) -> dict[str, Any]:
    line = {"color": "@ink", "width": 1.5, "dash": "dot"}
    return {"type": "line", "x0": x, "x1": x, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _marker_label(x: float, y: float, text: str) -> dict[str, Any]:
    return {
        "x": x, "y": y, "text": text, "showarrow": False, "xanchor": "left", "yanchor": "top", "xshift": 6,
        "font": {"color": "@ink", "size": 11},
    }  # fmt: skip
