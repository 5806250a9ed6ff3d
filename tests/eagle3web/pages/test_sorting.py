from eagle3web.pages.sorting import Column, heads

COLUMNS = (Column(word="Run"), Column(word="Speedup", key="speedup"), Column(word="Loss", key="loss", rising=True))


def test_first_click_sorts_by_what_is_good_and_the_next_the_other_way() -> None:
    assert [head.href for head in heads(COLUMNS[1:], "", {})] == ["?sort=-speedup", "?sort=loss"]
    found = heads(COLUMNS, "-speedup", {"review": "approved", "deleted": ""})
    assert [head.order for head in found] == ["", "descending", ""]
    assert found[1].href == "?review=approved&sort=speedup"
    assert heads(COLUMNS, "loss", {})[2].href == "?sort=-loss"
