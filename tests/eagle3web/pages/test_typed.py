import pytest

from eagle3web.pages.typed import whole


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("12 000 000", 12_000_000),
        ("12\u00a0000", 12_000),
        ("999999999999999", 999_999_999_999_999),
        ("1000000000000000", None),
        ("", None),
        ("-1", None),
        ("1.5", None),
        ("1e3", None),
        ("²", None),
        ("٣", None),
    ],
)
def test_whole_numbers_are_read_as_people_type_them(text: str, expected: int | None) -> None:
    assert whole(text) == expected
