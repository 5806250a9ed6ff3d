import io

import pytest

from pipeline.datasets.containers import jsonlines
from pipeline.datasets.containers.jsonlines import read_json_lines


def rows(raw: bytes) -> list[tuple[int, int | None, object]]:
    found = read_json_lines(io.BufferedReader(io.BytesIO(raw)))
    return [(row.index, row.line, row.error.reason if row.error else row.value) for row in found]


def test_lines_are_counted_from_one_and_blank_ones_are_no_rows() -> None:
    assert rows(b'1\n\n \t\r\n2\r\n"x"') == [(0, 1, 1), (1, 4, 2), (2, 5, "x")]


def test_a_byte_order_mark_is_no_part_of_the_first_row() -> None:
    assert rows(b"\xef\xbb\xbf1\n") == [(0, 1, 1)]


def test_only_a_line_feed_ends_a_row() -> None:
    assert rows('"a\u2028b\u0085c"\n2\n'.encode()) == [(0, 1, "a\u2028b\u0085c"), (1, 2, 2)]


def test_a_broken_line_leaves_its_neighbours() -> None:
    assert rows(b"1\n{x\n3\n") == [(0, 1, 1), (1, 2, "not valid JSON"), (2, 3, 3)]


def test_a_last_line_without_its_end_is_a_row_when_it_is_whole() -> None:
    assert rows(b"1\n2") == [(0, 1, 1), (1, 2, 2)]
    assert rows(b'1\n{"a": ') == [(0, 1, 1), (1, 2, "the last line is cut off")]


def test_a_gigantic_line_is_refused_without_being_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonlines, "MAX_ROW_BYTES", 100)
    assert rows(b'"' + b"x" * 97 + b'"\n' + b'"' + b"x" * 5_000_000 + b'"\n3\n') == [
        (0, 1, "x" * 97),
        (1, 2, "row is longer than 8 MiB"),
        (2, 3, 3),
    ]
