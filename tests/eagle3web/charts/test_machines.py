from eagle3web.charts.machines import Window, engine_figure, gpu_figure, load_figure

WINDOW = Window(now_ms=5000, length_ms=3000, gap_ms=300)


def test_loads_are_lines_in_percent_over_a_window_that_moves() -> None:
    figure = load_figure({"cpu": [(4000, 12.5), (4500, None)]}, WINDOW)
    cpu, memory, _disk = figure["data"]
    assert (cpu["meta"], cpu["x"], cpu["y"]) == ("cpu", [4000, 4500], [12.5, None])
    assert (memory["meta"], memory["x"]) == ("memory", [])
    assert (figure["layout"]["xaxis"]["range"], figure["layout"]["yaxis"]["range"]) == ([2000, 5000], [0, 100])
    assert figure["layout"]["meta"] == {"window": 3000, "gap": 300}


def test_each_of_eight_gpus_has_a_style_of_its_own() -> None:
    figure = gpu_figure({}, "gpu", range(8), WINDOW)
    assert [trace["meta"] for trace in figure["data"]] == [f"gpu/{n}" for n in range(8)]
    assert len({(trace["line"]["color"], trace["line"]["dash"]) for trace in figure["data"]}) == 8


def test_names_of_engines_are_no_markup() -> None:
    figure = engine_figure({}, "rate", [(3, "<b>x</b>")], WINDOW)
    assert (figure["data"][0]["meta"], figure["data"][0]["name"]) == ("rate/3", "&lt;b&gt;x&lt;/b&gt;")
