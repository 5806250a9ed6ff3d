from eagle3web.charts.tokens import LABEL_PX, NAME_LIMIT, tokens_figure


def test_each_dataset_has_a_line_with_its_label_at_the_end() -> None:
    figure = tokens_figure([("B1", 1000, 5.0), ("B1", 2000, 4_200_000.0)], {"B1": 10_000_000, "B2": 10_000_000})
    first, second = figure["data"]
    assert (first["meta"], first["x"], first["y"]) == ("B1", [1000, 2000], [5.0, 4_200_000.0])
    assert (second["meta"], second["x"]) == ("B2", [])
    label, empty, budget = figure["layout"]["annotations"]
    assert (label["name"], label["x"], label["y"], label["text"]) == ("B1", 2000, 4_200_000.0, "B1 4.20 M")
    assert (empty["visible"], budget["text"]) == (False, "budget 10.00 M")
    assert [shape["y0"] for shape in figure["layout"]["shapes"]] == [10_000_000]


def test_lines_differ_by_colour_and_then_by_dash() -> None:
    figure = tokens_figure([], {f"B{n}": None for n in range(8)})
    styles = [(trace["line"]["color"], trace["line"]["dash"]) for trace in figure["data"]]
    assert len(set(styles)) == 8


def test_names_of_people_are_no_markup() -> None:
    figure = tokens_figure([("<b>x</b>", 1, 1.0)], {"<b>x</b>": None})
    assert figure["data"][0]["name"] == "&lt;b&gt;x&lt;/b&gt;"
    assert figure["layout"]["annotations"][0]["text"] == "&lt;b&gt;x&lt;/b&gt; 1"


def test_long_names_are_cut_in_the_picture_only() -> None:
    figure = tokens_figure([], {"B" * 80: None})
    assert figure["data"][0]["name"] == "B" * NAME_LIMIT
    assert figure["data"][0]["meta"] == "B" * 80


def test_labels_of_lines_that_end_at_one_value_stand_apart() -> None:
    points = [(f"B{n}", 1000, 600.0) for n in range(3)]
    shifts = [label["yshift"] for label in tokens_figure(points, {f"B{n}": 600 for n in range(3)})["layout"]["annotations"][:3]]
    assert shifts == [0, LABEL_PX, 2 * LABEL_PX]
