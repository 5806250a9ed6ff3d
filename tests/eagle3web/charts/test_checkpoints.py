from datetime import UTC, datetime, timedelta

from eagle3web.charts.checkpoints import timeline_figure

START = datetime(2026, 3, 1, tzinfo=UTC)
LENGTHS = [(START + timedelta(hours=hour), length, f"r1 step {hour}") for hour, length in enumerate((2.1, 2.0, 2.4, 2.3))]


def test_figure_steps_up_only_and_goes_on_to_the_end() -> None:
    figure = timeline_figure(lengths=LENGTHS, speedups=[], promotions=[])
    assert figure is not None
    each, best = figure["data"]
    assert (each["y"], best["y"]) == ([2.1, 2.0, 2.4, 2.3], [2.1, 2.4, 2.4])
    assert best["x"][-1] == each["x"][-1]


def test_promotions_are_lines_and_the_last_ones_have_names() -> None:
    promotions = [(START + timedelta(hours=hour), f"r{hour} <b>") for hour in range(5)]
    figure = timeline_figure(lengths=LENGTHS, speedups=LENGTHS, promotions=promotions)
    assert figure is not None
    assert len(figure["layout"]["shapes"]) == 5
    assert [label["text"] for label in figure["layout"]["annotations"]] == [f"r{n} &lt;b&gt; promoted" for n in (2, 3, 4)]
    assert figure["data"][2]["yaxis"] == "y2"


def test_nothing_measured_is_no_figure() -> None:
    assert timeline_figure(lengths=[], speedups=[], promotions=[(START, "r1")]) is None
