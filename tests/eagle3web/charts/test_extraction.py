from eagle3web.charts.extraction import disk_figure, read_figure


def test_lines_grow_towards_what_is_expected() -> None:
    figure = read_figure([("", 1000, 5.0), ("", 2000, 9.0)], 12_000)
    (line,) = figure["data"]
    assert (line["meta"], line["x"], line["y"]) == ("tokens", [1000, 2000], [5.0, 9.0])
    assert (figure["layout"]["shapes"][0]["y0"], figure["layout"]["annotations"][0]["text"]) == (12_000, "all 12.0 k")
    assert disk_figure([], 2_000_000)["layout"]["annotations"][0]["text"] == "forecast 2.0 MB"


def test_nothing_is_expected_before_the_first_word() -> None:
    assert read_figure([], 0)["layout"]["shapes"] == []
