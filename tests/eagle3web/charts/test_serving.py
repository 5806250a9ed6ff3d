from eagle3web.charts.serving import Lines, accept_figure, queue_figure, rate_figure

LINES: Lines = {"tokens_per_s": [("", 1000, 41.5)], "running": [("", 1000, 4)], "waiting": [("", 1000, 2)]}


def test_lines_are_named_by_their_metrics_so_that_points_find_them() -> None:
    assert [trace["meta"] for trace in queue_figure(LINES)["data"]] == ["running", "waiting"]
    (trace,) = rate_figure(LINES)["data"]
    assert (trace["meta"], trace["x"], trace["y"]) == ("tokens_per_s", [1000], [41.5])


def test_accept_length_needs_no_zero_and_may_be_empty() -> None:
    figure = accept_figure(LINES)
    assert figure["layout"]["yaxis"]["rangemode"] == "normal"
    assert figure["data"][0]["y"] == []
