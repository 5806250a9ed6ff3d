from typing import Any

import pytest

from eagle3web.charts.benchmarks import concurrency_figure, dataset_figure, position_figure
from eagle3web.models import BenchmarkRow


def row(mode: str, dataset: str = "", **fields: Any) -> BenchmarkRow:
    values: dict[str, Any] = {"concurrency": 1, "tokens_per_s": 40.0, "tokens_per_s_low": 38.0, "tokens_per_s_high": 44.0}
    speedups = {} if mode == "plain" else {"speedup": 1.5, "speedup_low": 1.4, "speedup_high": 1.75, "shape": "3/1/4"}
    return BenchmarkRow(mode=mode, dataset=dataset, **values | speedups | fields)


def test_datasets_have_bars_with_their_spread_and_red_ones_below_plain() -> None:
    rows = [row(mode, name) for name in ("B1", "<b>") for mode in ("plain", "lookup", "drafter")]
    rows[-1].speedup = 0.9
    lookup, drafter = dataset_figure(rows)["data"]
    assert (lookup["name"], drafter["name"]) == ("prompt lookup", "drafter")
    assert (drafter["x"], drafter["y"]) == (["&lt;b&gt;", "B1"], [1.5, 0.9][::-1])
    assert drafter["marker"]["color"] == ["@failed", "@accent"]
    assert lookup["error_y"]["array"] == [0.25, 0.25]
    assert lookup["error_y"]["arrayminus"] == pytest.approx([0.1, 0.1])


def test_band_shows_how_far_the_plain_repetitions_lie_apart() -> None:
    band, line = dataset_figure([row("plain", "B1"), row("drafter", "B1")])["layout"]["shapes"]
    assert (band["y0"], band["y1"], line["y0"]) == (0.95, 1.1, 1)


def test_only_the_lowest_concurrency_and_the_fastest_shape_are_drawn_by_dataset() -> None:
    rows = [row("drafter", "B1", shape="a"), row("drafter", "B1", shape="b", tokens_per_s=80.0, speedup=2.0)]
    rows.append(row("drafter", "B1", concurrency=8, speedup=1.1))
    assert dataset_figure(rows)["data"][1]["y"] == [2.0]


def test_concurrency_has_a_line_for_each_mode_and_the_baseline_at_one() -> None:
    rows = [row(mode, concurrency=n) for n in (16, 1, 4) for mode in ("plain", "lookup", "drafter")]
    plain, lookup, drafter = concurrency_figure(rows)["data"]
    assert (plain["x"], plain["y"], drafter["x"]) == ([1, 4, 16], [1, 1, 1], [1, 4, 16])
    assert {trace["line"]["dash"] for trace in (plain, lookup, drafter)} == {"dot", "dash", "solid"}


def test_positions_count_from_one() -> None:
    lookup, drafter = position_figure([row("drafter", acceptance=[0.75, 0.5])])["data"]
    assert (drafter["x"], drafter["y"], drafter["text"]) == (["1", "2"], [0.75, 0.5], ["75%", "50%"])
    assert lookup["x"] == []


def test_nothing_measured_is_nothing_drawn() -> None:
    for make in (dataset_figure, concurrency_figure, position_figure):
        assert all(trace["x"] == [] for trace in make([])["data"])
