from eagle3web.charts.burn_down import burn_down_figure
from pipeline.budget import Range

ASKED = [(0, 100.0), (50, 200.0), (90, 200.0)]
LEFT = [(0, 100.0), (50, 180.0), (90, 120.0)]


def test_budgets_are_steps_and_what_is_left_a_line() -> None:
    figure = burn_down_figure(LEFT, ASKED, [(0, 100.0), (90, 100.0)], None)
    assert [trace["name"] for trace in figure["data"]] == ["asked", "used by the process", "left"]
    assert [trace["line"].get("shape") for trace in figure["data"]] == ["hv", "hv", None]
    assert [label["text"] for label in figure["layout"]["annotations"]] == ["left 120", "asked 200", "used 100"]
    assert "range" not in figure["layout"]["xaxis"]


def test_same_budgets_need_one_label() -> None:
    figure = burn_down_figure(LEFT, ASKED, ASKED, None)
    assert [label["text"] for label in figure["layout"]["annotations"]] == ["left 120", "asked 200"]


def test_forecast_is_a_band_that_the_table_of_numbers_leaves_out() -> None:
    figure = burn_down_figure(LEFT, ASKED, ASKED, Range(low=190, likely=290, high=2000))
    band, likely = figure["data"][-2:]
    assert (band["x"], band["y"], band["meta"]) == ([90, 190, 2000, 90], [120, 0, 0, 120], "guide")
    assert (likely["x"], likely["y"]) == ([90, 290], [120, 0])
    assert figure["layout"]["xaxis"]["range"] == [0, 490]


def test_nothing_to_draw_is_an_empty_figure() -> None:
    assert burn_down_figure([], [], [], None)["data"] == []
