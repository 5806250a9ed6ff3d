from eagle3web.charts.answers import ends_figure, languages_figure, lengths_figure, repetition_figure


def test_lengths_are_bars_that_touch() -> None:
    (bars,) = lengths_figure([0, 10, 20], [3, 4])["data"]
    assert (bars["x"], bars["y"]) == ([5, 15], [3, 4])


def test_ends_have_a_word_and_the_colour_of_a_state() -> None:
    (bars,) = ends_figure([("stop", 8), ("length", 2), ("other", 1), ("error", 1)])["data"]
    assert bars["y"] == ["ended by itself", "cut off", "other", "error"]
    assert bars["marker"]["color"] == ["@finished", "@silent", "@pending", "@failed"]


def test_what_counts_as_repetitive_stands_out() -> None:
    (bars,) = repetition_figure([5, 4, 3, 2], repetitive=3)["data"]
    assert (bars["x"], bars["y"]) == (["0", "10", "20", "30"], [5, 4, 3, 2])
    assert bars["marker"]["color"] == ["@accent", "@accent", "@accent", "@silent"]


def test_names_of_languages_are_text() -> None:
    (bars,) = languages_figure([("<b>Latin", 3)])["data"]
    assert (bars["y"], bars["x"]) == (["&lt;b&gt;Latin"], [3])
