"""Positions, places and masks as literal grids."""

import torch

from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.row_plan import RowPlan, plan_rows


def plan(drafts: list[Draft], lengths: list[int]) -> RowPlan:
    return plan_rows(drafts, lengths, 10, torch.float32, torch.device("cpu"))


def grid(found: RowPlan, slot: int) -> list[list[int]]:
    seen: list[list[int]] = (found.mask[slot, 0] == 0).int().tolist()
    return seen


def test_a_chain_sees_its_past() -> None:
    found = plan([Draft((5, 6, 7))], [2])
    assert (found.positions.tolist(), found.places.tolist(), found.width, found.longest) == ([2, 3, 4], [2, 3, 4], 3, 5)
    assert grid(found, 0) == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]
    assert (found.padded, found.unpadded) == (None, None)


def test_siblings_share_a_position_and_do_not_see_each_other() -> None:
    found = plan([Draft((5, 6, 7, 8), (-1, 0, 0, 1))], [1])
    assert (found.positions.tolist(), found.places.tolist()) == ([1, 2, 2, 3], [1, 2, 3, 4])
    assert grid(found, 0) == [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 1, 1, 0, 1]]


def test_shorter_requests_repeat_their_last_row() -> None:
    found = plan([Draft((5,)), Draft((6, 7, 8), (-1, 0, 0)), Draft((9, 9))], [4, 1, 0])
    assert found.places.tolist() == [4, 11, 12, 13, 20, 21]
    assert found.padded is not None
    assert found.unpadded is not None
    assert found.padded.tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 5]
    assert found.unpadded.tolist() == [0, 3, 4, 5, 6, 7]
    assert grid(found, 0) == [[1, 1, 1, 1, 1]] * 3
    assert grid(found, 1) == [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0], [1, 1, 0, 1, 0]]
    assert grid(found, 2) == [[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 1, 0, 0, 0]]
