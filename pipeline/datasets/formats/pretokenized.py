"""Rows that are token ids already: `{"input_ids": [...], "loss_mask"?: [0, 1, …]}`; 1 marks what an assistant said."""

from pipeline.datasets.formats.draft import Draft, Row
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

FIELD = "input_ids"

LARGEST_VOCABULARY = 1 << 20
"""No tokenizer has more tokens than this: the bound while the target's is not known."""


def read(row: Row, *, vocab_size: int | None) -> Draft:
    """The prompt is everything before the last answer. Raises RowError.

    Ids are checked strictly: one that is out of range can end a whole inference server.
    """
    ids = _integers(row[FIELD], FIELD)
    if not ids:
        raise RowError("empty input_ids")
    limit = vocab_size or LARGEST_VOCABULARY
    wrong = next((i for i in ids if not 0 <= i < limit), None)
    if wrong is not None:
        raise RowError("token id out of range", f"{str(wrong)[:30]} is not in 0 … {limit - 1}")
    draft = Draft(input_ids=ids)
    if row.get("loss_mask") is not None:
        draft.input_ids = _before_last_answer(ids, _integers(row["loss_mask"], "loss_mask"))
    return draft


def _integers(values: Json, field: str) -> list[int]:
    if not isinstance(values, list):
        raise RowError(f"{field} is not a list")
    if not all(type(value) is int for value in values):  # a bool is an int to isinstance
        raise RowError(f"{field} holds something that is not an integer")
    return values


def _before_last_answer(ids: list[int], mask: list[int]) -> list[int]:
    if len(ids) != len(mask):
        raise RowError("lengths differ", f"{len(ids)} input_ids, {len(mask)} in loss_mask")
    if not set(mask) <= {0, 1}:
        raise RowError("loss_mask holds something other than 0 and 1")
    if 1 not in mask:
        raise RowError("nothing to train on", "loss_mask is all zero")
    start = len(mask) - 1 - mask[::-1].index(1)
    while start and mask[start - 1]:
        start -= 1
    if start == 0:
        raise RowError("nothing before the answer")
    return ids[:start]
