"""Boxes in columns, and curves between them."""

from eagle3web.pages.graph import BETWEEN, EDGE, HEIGHT, UNDER, WIDTH, Node, draw


def node(key: str, column: int) -> Node:
    return Node(key=key, column=column, order=0, title=key, state="finished", words="finished", fact="")


def test_columns_that_nobody_uses_take_no_room() -> None:
    drawing = draw([node("a", 0), node("b", 3)], [("a", "b")])
    assert [(box.node.key, box.x, box.y) for box in drawing.boxes] == [("a", EDGE, EDGE), ("b", EDGE + WIDTH + BETWEEN, EDGE)]
    assert (drawing.width, drawing.height) == (2 * EDGE + 2 * WIDTH + BETWEEN, 2 * EDGE + HEIGHT)


def test_a_short_column_stands_in_the_middle_of_a_tall_one() -> None:
    drawing = draw([node("a", 0), node("b", 1), node("c", 1)], [("a", "b"), ("a", "c")])
    assert {box.node.key: box.y for box in drawing.boxes} == {
        "a": EDGE + (HEIGHT + UNDER) // 2,
        "b": EDGE,
        "c": EDGE + HEIGHT + UNDER,
    }


def test_a_curve_leads_from_the_right_side_to_the_left() -> None:
    drawing = draw([node("a", 0), node("b", 1)], [("a", "b")])
    start, end = EDGE + WIDTH, EDGE + WIDTH + BETWEEN - 5
    middle, y = (start + end) // 2, EDGE + HEIGHT // 2
    assert drawing.curves == [f"M{start} {y}C{middle} {y} {middle} {y} {end} {y}"]


def test_nothing_is_drawn_of_nothing() -> None:
    drawing = draw([], [])
    assert (drawing.width, drawing.height, drawing.boxes) == (0, 0, [])


def test_a_long_title_is_cut() -> None:
    assert node("B4_" + "x" * 40, 0).short == "B4_" + "x" * 13 + "…"
