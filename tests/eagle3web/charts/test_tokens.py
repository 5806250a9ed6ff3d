from eagle3web.charts.tokens import LABEL_PX, NAME_LIMIT, ROWS, tokens_figure


def test_each_dataset_has_a_line_and_a_label_with_its_newest_value() -> None:
    figure = tokens_figure([("B1", 1000, 5.0), ("B1", 2000, 4_200_000.0)], {"B1": 10_000_000, "B2": 10_000_000})
    first, second = figure["data"]
    assert (first["meta"], first["x"], first["y"]) == ("B1", [1000, 2000], [5.0, 4_200_000.0])
    assert (second["meta"], second["x"]) == ("B2", [])
    label, empty, budget = figure["layout"]["annotations"]
    assert (label["name"], label["text"]) == ("B1", "\u2014 B1 4.20 M")
    assert (empty["visible"], budget["text"]) == (False, "budget 10.00 M")
    assert [shape["y0"] for shape in figure["layout"]["shapes"]] == [10_000_000]


def test_lines_differ_by_colour_and_then_by_dash() -> None:
    figure = tokens_figure([], {f"B{n}": None for n in range(8)})
    styles = [(trace["line"]["color"], trace["line"]["dash"]) for trace in figure["data"]]
    assert len(set(styles)) == 8


def test_names_of_people_are_no_markup() -> None:
    figure = tokens_figure([("<b>x</b>", 1, 1.0)], {"<b>x</b>": None})
    assert figure["data"][0]["name"] == "&lt;b&gt;x&lt;/b&gt;"
    assert figure["layout"]["annotations"][0]["text"] == "\u2014 &lt;b&gt;x&lt;/b&gt; 1"


def test_long_names_are_cut_in_the_picture_only() -> None:
    figure = tokens_figure([], {"B" * 80: None})
    assert figure["data"][0]["name"] == "B" * NAME_LIMIT
    assert figure["data"][0]["meta"] == "B" * 80


def test_labels_stand_below_each_other_wherever_their_lines_end() -> None:
    points = [(f"B{n}", 1000, 600.0) for n in range(ROWS + 1)]
    labels = tokens_figure(points, {f"B{n}": 600 for n in range(ROWS + 1)})["layout"]["annotations"][:-1]
    assert [label["yshift"] for label in labels] == [-LABEL_PX * n for n in range(ROWS)]
    assert [label["text"][:2] for label in labels[3:5]] == ["\u2014 ", "--"]
