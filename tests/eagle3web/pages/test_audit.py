import pytest

from eagle3web.pages.audit import DETAIL_LIMIT, details_of, place_of


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("run 12", "/runs/12/"),
        ("checkpoint 3", "/checkpoints/3/"),
        ("token budget 4", "/admin/eagle3web/tokenbudget/4/history/"),
        ("notification channel 1", ""),
        ("run twelve", ""),
        ("run 12; drop", ""),
        (f"run {'9' * 30}", ""),
        ("", ""),
    ],
)
def test_things_lead_to_their_pages(target: str, place: str) -> None:
    assert place_of(target) == place


def test_details_are_words_and_changes_have_an_arrow() -> None:
    detail = {"slug": "k2", "empty": "", "on": True, "roles": ["a", "b"], "changes": {"tokens": [None, 10], "odd": 1}}
    assert details_of(detail) == [
        ("slug", "k2"), ("on", "yes"), ("roles", "a, b"), ("tokens", "none → 10"), ("odd", "1"),
    ]  # fmt: skip
    assert details_of("text") == []


def test_hostile_details_are_visible_and_cut() -> None:
    ((name, words),) = details_of({"a\x1b" + "n" * 99: "x\x00" * 500})
    assert (len(name), name[:2], words[:2], len(words)) == (40, "a␛", "x␀", DETAIL_LIMIT + 1)
