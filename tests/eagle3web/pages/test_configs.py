from eagle3web.pages.configs import Difference, differences, flat

OLD = {"concurrency": 96, "engines": [{"name": "a", "url": "http://a"}], "datasets": [{"slug": "B1", "budget": 8}], "gone": 1}


def test_flat_names_elements_by_their_slug() -> None:
    assert dict(flat(OLD)) == {
        "concurrency": "96",
        "engines.a.name": "a",
        "engines.a.url": "http://a",
        "datasets.B1.slug": "B1",
        "datasets.B1.budget": "8",
        "gone": "1",
    }


def test_flat_writes_lists_of_values_as_one_and_nothing_as_a_dash() -> None:
    assert dict(flat({"stop": [1, 2], "none": None, "empty": []})) == {"stop": "[1, 2]", "none": "–", "empty": "[]"}


def test_differences_name_what_changed_came_and_went() -> None:
    new = {
        "concurrency": 128,
        "engines": OLD["engines"],
        "datasets": [{"slug": "B1", "budget": 8}, {"slug": "B2", "budget": 5}],
    }
    assert differences(OLD, new) == [
        Difference("concurrency", "96", "128"),
        Difference("datasets.B2.slug", "", "B2"),
        Difference("datasets.B2.budget", "", "5"),
        Difference("gone", "1", ""),
    ]


def test_same_configs_have_no_differences() -> None:
    assert differences(OLD, OLD) == []
