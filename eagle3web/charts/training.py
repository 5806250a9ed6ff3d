"""Curves of a training run by step: loss, accuracy, accept length, speed. Lines grow by socket, found by their `meta`."""

from collections.abc import Mapping, Sequence
from typing import Any

from eagle3web.formats import count

Points = Sequence[tuple[int, float]]
"""(step, value)."""
Lines = Mapping[str, Points]
"""By name: a metric, such as `loss`, or one of its series, such as `accuracy/0`."""
Resumed = Sequence[tuple[int, int]]
"""(attempt, first step) of every attempt after the first."""
SHADES = (100, 86, 74, 64, 55, 47, 40)
"""Opacity of the lines of steps 0 to 6, in percent: deeper is lighter."""
LABEL_PX = 13
"""Height of a label."""


def loss_figure(lines: Lines, resumed: Resumed) -> dict[str, Any]:
    train, held_out = lines.get("loss", []), lines.get("eval_loss", [])
    data = [
        _line("loss", "training", train, color="@accent") | {"smooths": True},
        _marked("eval_loss", "held-out", held_out, color="@series-2", symbol="diamond"),
    ]
    labels = [
        _label("loss", "training", train, "@accent", digits=2, lift=-7),
        _label("eval_loss", "held-out", held_out, "@series-2", digits=2, lift=7),
    ]
    return _figure(data, labels, resumed, title="loss", zero=False)


def accuracy_figure(lines: Lines, resumed: Resumed) -> dict[str, Any]:
    """acc_k: lines for training batches, open marks for held-out answers, one shade for each step."""
    found, held_out = _series(lines, "accuracy"), _series(lines, "eval_accuracy")
    steps = sorted({*found, *held_out}, key=int) or ["0"]
    named = sorted({0, len(steps) // 2, len(steps) - 1})
    # Deeper steps are less accurate: labels that stand a line's height apart never cover each other.
    lifts = {steps[i]: LABEL_PX * (len(named) - 1 - 2 * rank) // 2 for rank, i in enumerate(named)}
    data, labels = [], []
    for k in steps:
        color = f"@accent/{SHADES[min(int(k), len(SHADES) - 1)]}"
        points, marks = found.get(k, []), held_out.get(k, [])
        data.append(_line(f"accuracy/{k}", f"step {k}", points, color=color))
        data.append(_marks(f"eval_accuracy/{k}", f"step {k}, held-out", marks, color=color))
        if k in lifts:
            labels.append(_label(f"accuracy/{k}", f"step {k}", points, "@ink", digits=None, lift=lifts[k]))
    figure = _figure(data, labels, resumed, title="accuracy", zero=True)
    figure["layout"]["yaxis"] |= {"tickformat": ".0%"}
    return figure


def accept_figure(lines: Lines, resumed: Resumed) -> dict[str, Any]:
    """The simulated accept length beside the measured one; both count the bonus token."""
    simulated, measured = lines.get("simulated_accept_length", []), lines.get("accept_length", [])
    dashed = _marked("simulated_accept_length", "simulated", simulated, color="@baseline", symbol="circle-open")
    dashed["line"] |= {"dash": "dash"}
    data = [dashed, _marked("accept_length", "measured", measured, color="@accent", symbol="circle", width=2)]
    labels = [
        _label("simulated_accept_length", "simulated", simulated, "@muted", digits=2, lift=7),
        _label("accept_length", "measured", measured, "@accent", digits=2, lift=-7),
    ]
    return _figure(data, labels, resumed, title="accept length", zero=False)


def speed_figure(lines: Lines, resumed: Resumed) -> dict[str, Any]:
    """Tokens a second, and the learning rate on an axis of its own."""
    speed, rate = lines.get("tokens_per_s", []), lines.get("learning_rate", [])
    data = [
        _line("tokens_per_s", "tokens/s", speed, color="@accent"),
        _second("learning_rate", "learning rate", rate),
    ]
    return _two_axes(data, resumed, left="tokens/s", right="learning rate", right_format=".0e")


def memory_figure(lines: Lines, resumed: Resumed) -> dict[str, Any]:
    """Peak memory, and the norm of the gradient on an axis of its own."""
    memory, norm = lines.get("memory_bytes", []), lines.get("grad_norm", [])
    data = [
        _line("memory_bytes", "peak memory", memory, color="@accent"),
        _second("grad_norm", "gradient norm", norm),
    ]
    data[0]["hovertemplate"] = "%{y:.3s}B"
    return _two_axes(data, resumed, left="bytes", right="gradient norm", right_format="~g")


def _series(lines: Lines, metric: str) -> dict[str, Points]:
    """The lines of one metric, by series."""
    return {name.partition("/")[2]: points for name, points in lines.items() if name.partition("/")[0] == metric}


def _line(meta: str, name: str, points: Points, *, color: str, width: float = 1.5) -> dict[str, Any]:
    x, y = [step for step, _ in points], [value for _, value in points]
    style: dict[str, Any] = {"color": color, "width": width}
    return {"type": "scatter", "mode": "lines", "name": name, "meta": meta, "x": x, "y": y, "line": style}


def _marked(meta: str, name: str, points: Points, *, color: str, symbol: str, width: float = 1.5) -> dict[str, Any]:
    trace = _line(meta, name, points, color=color, width=width)
    return trace | {"mode": "lines+markers", "marker": {"size": 7, "symbol": symbol, "color": color}}


def _marks(meta: str, name: str, points: Points, *, color: str) -> dict[str, Any]:
    trace = _line(meta, name, points, color=color)
    return trace | {"mode": "markers", "marker": {"size": 6, "symbol": "diamond-open", "color": color}}


def _second(meta: str, name: str, points: Points) -> dict[str, Any]:
    trace = _line(meta, name, points, color="@series-2")
    trace["line"] |= {"dash": "dash"}
    return trace | {"yaxis": "y2"}


def _label(meta: str, name: str, points: Points, color: str, *, digits: int | None, lift: int = 0) -> dict[str, Any]:
    """A word and the newest value at a line's end; `digits` None writes a share in percent."""
    step, value = points[-1] if points else (0, 0.0)
    written = f"{value:.0%}" if digits is None else f"{value:.{digits}f}"
    return {
        "name": meta, "x": step, "y": value, "text": f"{name} {written}", "visible": bool(points), "showarrow": False,
        "xanchor": "left", "xshift": 8, "yshift": lift, "font": {"color": color, "size": 11},
    }  # fmt: skip


def _figure(
    data: list[dict[str, Any]], labels: list[dict[str, Any]], resumed: Resumed, *, title: str, zero: bool
) -> dict[str, Any]:
    return {
        "data": data,
        "layout": {
            "xaxis": {"title": {"text": "step"}, "tickformat": "~s", "rangemode": "tozero"},
            "yaxis": {"title": {"text": title}, "rangemode": "tozero" if zero else "normal"},
            "margin": {"r": 104, "t": 20},
            "hoverlabel": {"namelength": -1},
            "shapes": [_resumed_line(step) for _, step in resumed],
            "annotations": labels + [_resumed_label(number, step) for number, step in resumed[-1:]],
        },
        "narrow": {"margin": {"r": 92}, "xaxis": {"nticks": 4}},
    }


def _two_axes(data: list[dict[str, Any]], resumed: Resumed, *, left: str, right: str, right_format: str) -> dict[str, Any]:
    figure = _figure(data, [], resumed, title=left, zero=True)
    figure["layout"]["yaxis"] |= {"tickformat": "~s"}
    figure["layout"]["yaxis2"] = {
        "overlaying": "y", "side": "right", "title": {"text": right}, "tickformat": right_format, "rangemode": "tozero",
        "tickmode": "auto", "nticks": 6,
    }  # fmt: skip
    figure["layout"] |= {"margin": {"r": 56, "t": 28}, "showlegend": True, "annotations": []}
    figure["narrow"] = {"margin": {"r": 56}, "xaxis": {"nticks": 4}}
    return figure


def _resumed_line(step: int) -> dict[str, Any]:
    line = {"color": "@line-strong", "width": 1, "dash": "dot"}
    return {"type": "line", "x0": step, "x1": step, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _resumed_label(number: int, step: int) -> dict[str, Any]:
    return {
        "x": step, "yref": "paper", "y": 1, "text": f"attempt {number} from {count(step)}", "showarrow": False,
        "xanchor": "left", "yanchor": "bottom", "font": {"color": "@faint", "size": 11},
    }  # fmt: skip
