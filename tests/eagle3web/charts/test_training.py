from eagle3web.charts import training

LINES = {
    "loss": [(10, 3.0), (20, 2.0)],
    "eval_loss": [(20, 2.5)],
    "accuracy/0": [(10, 0.5)],
    "accuracy/1": [(10, 0.4)],
    "eval_accuracy/0": [(20, 0.45)],
    "simulated_accept_length": [(20, 2.2)],
    "accept_length": [(20, 2.0)],
    "tokens_per_s": [(10, 900.0)],
    "learning_rate": [(10, 0.001)],
}


def test_loss_labels_both_lines_at_their_ends_and_marks_where_it_was_resumed() -> None:
    figure = training.loss_figure(LINES, [(2, 15)])
    assert [(trace["meta"], trace["x"], trace["y"]) for trace in figure["data"]] == [
        ("loss", [10, 20], [3.0, 2.0]),
        ("eval_loss", [20], [2.5]),
    ]
    assert [label["text"] for label in figure["layout"]["annotations"]] == [
        "training 2.00",
        "held-out 2.50",
        "attempt 2 from 15",
    ]
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [15]


def test_accuracy_has_a_line_and_marks_for_each_step_in_lighter_shades() -> None:
    data = training.accuracy_figure(LINES, [])["data"]
    assert [trace["meta"] for trace in data] == ["accuracy/0", "eval_accuracy/0", "accuracy/1", "eval_accuracy/1"]
    assert [trace["line"]["color"] for trace in data[::2]] == ["@accent/100", "@accent/86"]
    assert [trace["mode"] for trace in data[:2]] == ["lines", "markers"]


def test_labels_of_lines_that_end_at_the_same_height_stand_apart() -> None:
    lines = {f"accuracy/{k}": [(10, 0.3)] for k in range(4)}
    labels = training.accuracy_figure(lines, [])["layout"]["annotations"]
    assert [(label["text"], label["yshift"]) for label in labels] == [
        ("step 0 30%", 13),
        ("step 2 30%", 0),
        ("step 3 30%", -13),
    ]


def test_accept_lengths_say_which_one_is_simulated() -> None:
    figure = training.accept_figure(LINES, [])
    assert [trace["name"] for trace in figure["data"]] == ["simulated", "measured"]
    assert figure["data"][0]["line"]["dash"] == "dash"
    assert [label["text"] for label in figure["layout"]["annotations"]] == ["simulated 2.20", "measured 2.00"]


def test_second_axis_is_for_what_has_another_unit() -> None:
    for figure in (training.speed_figure(LINES, []), training.memory_figure(LINES, [])):
        assert [trace.get("yaxis", "y") for trace in figure["data"]] == ["y", "y2"]


def test_lines_are_there_before_their_points_so_that_these_find_them() -> None:
    for make in (training.loss_figure, training.accept_figure, training.speed_figure, training.memory_figure):
        assert [trace["x"] for trace in make({}, [])["data"]] == [[], []]
