"""People write 10 M; slips are refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eagle3web.domain.counts import parse_count


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("10000000", 10_000_000),
        ("10 000 000", 10_000_000),
        ("10,000,000", 10_000_000),
        ("10_000_000", 10_000_000),
        ("10\u202f000\u202f000", 10_000_000),
        ("10 M", 10_000_000),
        ("10m", 10_000_000),
        ("2.5k", 2_500),
        ("0.001 M", 1_000),
        ("1.5 G", 1_500_000_000),
        ("2B", 2_000_000_000),
        ("1t", 10**12),
        (" 7 ", 7),
    ],
)
def test_count_reads_what_people_write(text: str, value: int) -> None:
    assert parse_count(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "2o48",
        "l0",
        "",
        " ",
        "-5",
        "+5",
        "1e6",
        "1,5 M",
        "1,50",
        "10,0000",
        "1.2.3",
        "10 00",
        "1 000,000",
        "10  M",
        "9" * 41,
        "0.5",
        "1.0001 k",
        "M",
        "10 X",
        "١٢",
        "²",
        "0x10",
    ],
)
def test_count_refuses_slips(text: str) -> None:
    with pytest.raises(ValueError, match="is not a"):
        parse_count(text)


def test_count_message_quotes_the_text_cut() -> None:
    with pytest.raises(ValueError, match=r"^“2o48” is not a number: write 10 M, 2\.5 k or 10 000 000\.$"):
        parse_count("2o48")
    with pytest.raises(ValueError, match=f"^“{'x' * 40}” is"):
        parse_count("x" * 1000)


@given(st.integers(min_value=0, max_value=10**15))
def test_count_reads_every_grouping_of_a_number(value: int) -> None:
    assert {parse_count(form) for form in (str(value), f"{value:,}", f"{value:_}", f"{value:,}".replace(",", " "))} == {value}


@given(st.text(max_size=30))
def test_count_refuses_with_value_error_only(text: str) -> None:
    with contextlib.suppress(ValueError):
        assert parse_count(text) >= 0
