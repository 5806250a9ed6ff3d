"""What moved here, there, or on both sides."""

from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.fetched_files import Digests, Files, is_newer_there, merge, read_fetched, travels, within, write_fetched

OLD, MINE, THEIRS = ("old", 1), ("mine", 2), ("theirs", 3)


@pytest.mark.parametrize(
    ("mine", "theirs", "same", "published"),
    [
        ({"f": MINE}, {}, {}, {"f": MINE}),
        ({"f": MINE}, {"f": OLD}, {"f": "old"}, {"f": MINE}),
        ({"f": OLD}, {"f": THEIRS}, {"f": "old"}, {"f": THEIRS}),
        ({"f": MINE}, {"f": MINE}, {}, {"f": MINE}),
        ({}, {"f": THEIRS}, {}, {"f": THEIRS}),
        ({}, {"f": OLD}, {"f": "old"}, {}),
        ({}, {"B1/lock": THEIRS}, {}, {}),
    ],
)
def test_merge_takes_each_file_from_where_it_moved(
    mine: Files, theirs: Files, same: Digests, published: Files, tmp_path: Path
) -> None:
    assert merge(mine, theirs, same=same, folder=tmp_path, host="b") == published


def test_merge_names_a_file_that_moved_on_both_sides(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"f was changed here \(2 bytes, .*\) and by host b in the store \(3 bytes, "):
        merge({"f": MINE}, {"f": THEIRS}, same={"f": "old"}, folder=tmp_path, host="b")


def test_file_that_is_not_here_is_newer_there(tmp_path: Path) -> None:
    assert is_newer_there(tmp_path / "f", THEIRS, same="theirs", host="b")


def test_folder_says_what_was_the_same_and_else_what_is_left_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    assert read_fetched(tmp_path, otherwise={"f": OLD, "gone": OLD}) == {"f": "old"}
    write_fetched(tmp_path, {"f": "mine"})
    assert read_fetched(tmp_path, otherwise={"f": OLD}) == {"f": "mine"}


def test_locks_and_private_files_do_not_travel_and_no_path_leads_out(tmp_path: Path) -> None:
    assert [travels(name) for name in ("B1/part", "B1/lock", ".fetched.json", ".step-1/f")] == [True, False, False, False]
    with pytest.raises(DataError, match="leads out of its folder"):
        within(tmp_path, "../evil")
