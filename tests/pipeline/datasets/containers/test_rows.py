import pytest

from pipeline.datasets.containers.rows import parse_row
from pipeline.datasets.report import RowError


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"NaN", "not valid JSON"),
        (b'{"a": Infinity}', "not valid JSON"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b'{"a": "\x01"}', "not valid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 50_000 + b"1" + b"}" * 50_000, "nested too deeply"),
        (b'{"a": "caf\xe9"}', "not UTF-8"),
        (b'"\xed\xa0\xbd"', "not UTF-8"),
        (b"{} {}", "not valid JSON"),
    ],
)
def test_what_is_not_json_is_named(raw: bytes, reason: str) -> None:
    with pytest.raises(RowError) as caught:
        parse_row(raw)
    assert caught.value.reason == reason


def test_a_bad_byte_is_named_by_place_and_value() -> None:
    with pytest.raises(RowError, match="not UTF-8: byte 0xe9 at byte 11 of the row"):
        parse_row(b'{"a": "caf\xe9"}')


def test_large_numbers_and_all_characters_come_through() -> None:
    assert parse_row('{"id": 1000000000000000000000000000000, "t": "\\ud83d\\ude80 \u2028"}'.encode()) == {
        "id": 10**30,
        "t": "🚀 \u2028",
    }
