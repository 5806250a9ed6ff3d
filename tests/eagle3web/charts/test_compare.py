import itertools

from eagle3web.charts.compare import LABEL_PX, LOOKS, Line, compare_figure


def test_runs_keep_their_look_and_can_be_smoothed() -> None:
    lines = [Line(place=place, run=10 + place, points=[(0, 2.0), (1, 1.0)]) for place in range(6)]
    figure = compare_figure(lines, x="step", y="loss", smooths=True)
    assert [(trace["name"], trace["line"]["color"], trace["line"]["dash"]) for trace in figure["data"]] == [
        (f"r{10 + place}", *LOOKS[place]) for place in range(6)
    ]
    assert all(trace["smooths"] for trace in figure["data"])


def test_labels_of_lines_that_end_together_do_not_cover_each_other() -> None:
    lines = [Line(place=place, run=place, points=[(0, 3.0), (9, 1.0 + place / 1000)]) for place in range(3)]
    labels = compare_figure(lines, x="step", y="loss")["layout"]["annotations"]
    heights = sorted((label["yshift"] for label in labels), reverse=True)
    assert all(upper - lower >= LABEL_PX - 1 for upper, lower in itertools.pairwise(heights))


def test_large_values_are_written_short_and_single_points_are_seen() -> None:
    figure = compare_figure([Line(place=0, run=7, points=[(1, 41_520_000.0)])], x="hours", y="tokens", digits=0)
    assert figure["layout"]["annotations"][0]["text"] == "r7 41.52M"
    assert figure["data"][0]["mode"] == "markers"
