from eagle3web.charts.lengths import answer_lengths_figure, histogram, prompt_lengths_figure


def test_histogram_draws_a_bar_in_the_middle_of_each_bin() -> None:
    (bars,) = histogram([0, 10, 30], [4, 2], what="prompts", unit="tokens")["data"]
    assert (bars["x"], bars["y"], bars["customdata"]) == ([5.0, 20.0], [4, 2], ["0 to 9", "10 to 29"])


def test_prompt_lengths_mark_the_mean() -> None:
    figure = prompt_lengths_figure({"edges": [0, 32, 64], "counts": [3, 1], "mean": 21.4, "max": 60})
    assert figure["layout"]["annotations"][0]["text"] == "mean 21"
    assert figure["layout"]["shapes"][0]["x0"] == 21.4


def test_answer_lengths_show_the_dataset_at_work() -> None:
    figure = answer_lengths_figure([("B1", [0, 64], [9]), ("<B2>", [0, 64, 128], [1, 2])])
    assert [(trace["meta"], trace["visible"]) for trace in figure["data"]] == [("B1", False), ("<B2>", True)]
    assert figure["data"][1]["name"] == "&lt;B2&gt;"


def test_no_answers_yet_is_an_empty_figure() -> None:
    assert answer_lengths_figure([]) == {"data": [], "layout": {}}
