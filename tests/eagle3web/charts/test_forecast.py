from eagle3web.charts.forecast import Bar, forecast_figure


def test_bars_carry_their_range_as_whiskers() -> None:
    (bars,) = forecast_figure([Bar("B1", 1.0, 2.0, 4.5), Bar("<b>", 0.0, 1.0, 1.0)], unit="hours")["data"]
    assert (bars["y"], bars["x"]) == (["B1", "&lt;b&gt;"], [2.0, 1.0])
    assert (bars["error_x"]["array"], bars["error_x"]["arrayminus"]) == ([2.5, 0.0], [1.0, 1.0])
