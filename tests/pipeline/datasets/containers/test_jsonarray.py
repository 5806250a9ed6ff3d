import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.datasets.containers import jsonarray
from pipeline.datasets.containers.jsonarray import read_json_array


def rows(raw: bytes) -> list[tuple[int | None, Any]]:
    found = list(read_json_array(io.BufferedReader(io.BytesIO(raw))))
    assert [row.index for row in found] == list(range(len(found)))
    return [(row.line, row.error.reason if row.error else row.value) for row in found]


def test_elements_come_with_the_line_where_they_begin() -> None:
    assert rows(b'\xef\xbb\xbf\n[\n {"a": [1,\n 2]},\n\n {"b": "],}\\""}]\n') == [(3, {"a": [1, 2]}), (6, {"b": '],}"'})]


@pytest.mark.parametrize("raw", [b"[]", b"[ \n ]", b"  [\n]\n"])
def test_an_empty_list_has_no_rows(raw: bytes) -> None:
    assert rows(raw) == []


def test_a_broken_element_leaves_its_neighbours() -> None:
    assert rows(b'[{"a": 1}, {"a": tru}, , NaN, "caf\xe9", {"a": 2}]') == [
        (1, {"a": 1}),
        (1, "not valid JSON"),
        (1, "not valid JSON"),
        (1, "not valid JSON"),
        (1, "not UTF-8"),
        (1, {"a": 2}),
    ]


def test_a_stray_bracket_spoils_one_element_only() -> None:
    assert rows(b'[{"a": 1}}, {"a": 2}]') == [(1, "not valid JSON"), (1, {"a": 2})]


def test_a_comma_before_the_end_is_forgiven() -> None:
    assert rows(b"[1, 2,\n]") == [(1, 1), (1, 2)]


@pytest.mark.parametrize("raw", [b'[{"a": 1},\n{"a": "x', b'[{"a": 1},\n{"a": "x\\', b'[{"a": 1},\n{"b"'])
def test_a_file_that_ends_inside_the_list_is_reported(raw: bytes) -> None:
    assert rows(raw) == [(1, {"a": 1}), (2, "the file ends inside the list")]


@pytest.mark.parametrize("end", [b"", b"\n", b" \n  ", b","])
@pytest.mark.parametrize("size", [1, 1 << 18])
def test_last_row_of_a_torn_list_is_kept_when_it_is_whole(end: bytes, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonarray, "CHUNK_BYTES", size)
    found = rows(b'[{"a": 1},{"a": "]}"}' + end)
    assert [value for _, value in found] == [{"a": 1}, {"a": "]}"}, "the file ends inside the list"]


@pytest.mark.parametrize("raw", [b"[1, 2", b'["a", "b', b"[[1], [2", b"[1, tru"])
def test_last_row_that_may_go_on_is_not_kept(raw: bytes) -> None:
    assert [value for _, value in rows(raw)][1:] == ["the file ends inside the list"]


def test_text_after_the_list_is_reported() -> None:
    assert rows(b"[1]\n\n  [2]") == [(1, 1), (1, "text after the end of the list")]
    assert rows(b"[1]" + b"\n" * 600_000 + b"x") == [(1, 1), (1, "text after the end of the list")]


def test_an_element_that_is_too_long_is_refused_without_being_held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonarray, "MAX_ROW_BYTES", 50)
    raw = b'[1,\n{"a": "' + b"x\n" * 500_000 + b'"},\n3]'
    assert rows(raw) == [(1, 1), (2, "row is longer than 8 MiB"), (500_003, 3)]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(VALUES, max_size=6), st.integers(1, 9), st.sampled_from([None, 1]), st.booleans())
@pytest.mark.slow
def test_any_list_is_cut_right_at_any_chunk_size(values: list[Any], size: int, indent: int | None, ascii_only: bool) -> None:
    raw = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonarray, "CHUNK_BYTES", size)
        assert [value for _, value in rows(raw)] == values
