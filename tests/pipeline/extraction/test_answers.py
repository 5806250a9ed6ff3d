import json
from pathlib import Path

import pytest

from pipeline.answer_sets import AnswerSet
from pipeline.errors import DataError
from pipeline.events import Warned
from pipeline.exclusions import Exclusions
from pipeline.extraction.answers import NAMED, Limits, Reading, read_answers
from pipeline.responses.record import Response
from tests.support.answers import answer

LIMITS = Limits(vocab_size=300, max_length=50)
B1 = AnswerSet(dataset="B1", revision="rev1")


def stored(root: Path, *lines: Response | bytes) -> Path:
    """A folder of responses as a hand may have left it: lines as they are."""
    store = root / "B1"
    store.mkdir()
    written = (line if isinstance(line, bytes) else line.to_line() for line in lines)
    (store / "part-00001.jsonl").write_bytes(b"".join(written))
    return root


def read(root: Path, *sets: AnswerSet) -> tuple[Reading, list[str]]:
    warnings: list[Warned] = []
    reading = read_answers(root, sets or (B1,), LIMITS, warn=warnings.append)
    assert {warning.dataset for warning in warnings} <= {"B1"}
    return reading, [warning.text for warning in warnings]


def test_prompt_and_answer_are_one_document_and_the_answer_is_to_be_learned(tmp_path: Path) -> None:
    reading, warnings = read(stored(tmp_path, answer(7, prompt_ids=(5, 6, 7), output_ids=(8, 2))))
    (found,) = reading.answers
    assert warnings == []
    assert (found.dataset, found.name, found.tokens, found.supervised) == ("B1", f"{7:016x}", 5, 2)
    assert found.token_ids().tolist() == [5, 6, 7, 8, 2]
    assert found.loss_mask().tolist() == [False, False, False, True, True]


def test_what_a_hand_has_broken_is_named_by_file_and_line_and_the_rest_is_read(tmp_path: Path) -> None:
    edited = json.loads(answer(3).to_line())
    edited["output_ids"] = [4, "five"]
    lines = (
        answer(1),
        b'{"key": "00", "output_ids": [1,2\n',
        answer(2, output_ids=(5, 300)),
        json.dumps(edited).encode() + b"\n",
        answer(4, output_ids=()),
        answer(5, prompt_ids=(-1, 3)),
        answer(6, output_ids=tuple(range(60))),
        answer(7),
    )
    reading, warnings = read(stored(tmp_path, *lines))
    assert [found.name for found in reading.answers] == [f"{n:016x}" for n in (1, 7)]
    assert reading.skipped == 6
    file = tmp_path / "B1" / "part-00001.jsonl"
    starts = [f"{file}, line {number}: " for number in range(2, 8)]
    assert [warning.startswith(start) for warning, start in zip(warnings, starts, strict=True)] == [True] * 6
    reasons = [warning.removeprefix(start) for warning, start in zip(warnings, starts, strict=True)]
    assert reasons[0].startswith("not a response: ")
    assert reasons[1] == f"answer to prompt {2:016x}: token id 300 is outside the vocabulary of 300; it is left out"
    assert "hold something else than token ids" in reasons[2]
    assert "no output_ids: its engine returned text alone" in reasons[3]
    assert "token id -1 is outside" in reasons[4]
    assert "63 tokens, more than max_length 50" in reasons[5]


def test_token_that_a_hand_has_dropped_is_noticed(tmp_path: Path) -> None:
    reading, warnings = read(stored(tmp_path, answer(1, output_ids=(4, 5), completion_tokens=3), answer(2)))
    assert ([found.name for found in reading.answers], reading.skipped) == ([f"{2:016x}"], 1)
    assert "line 1: " in warnings[0]
    assert warnings[0].endswith("2 output_ids, and completion_tokens says 3; it is left out")


def test_flood_of_one_reason_is_counted(tmp_path: Path) -> None:
    reading, warnings = read(stored(tmp_path, *(answer(n, output_ids=()) for n in range(NAMED + 30))))
    assert reading.skipped == NAMED + 30
    assert len(warnings) == NAMED + 1
    assert warnings[-1] == "30 more left out (no output_ids)"


def test_answers_of_other_revisions_and_samplings_are_not_read(tmp_path: Path) -> None:
    other = answer(2, revision="rev2")
    warm = answer(3, sampling="warm0000")
    root = stored(tmp_path, answer(1), other, warm)
    assert [found.name for found in read(root)[0].answers] == [f"{n:016x}" for n in (1, 3)]
    exact = AnswerSet(dataset="B1", revision="rev1", sampling="warm0000")
    assert [found.name for found in read(root, exact)[0].answers] == [f"{3:016x}"]


def test_first_answer_to_a_prompt_counts_and_a_torn_last_line_is_none(tmp_path: Path) -> None:
    again = answer(1, sampling="warm0000", output_ids=(9,))
    reading, warnings = read(stored(tmp_path, answer(1), again, answer(2).to_line()[:40]))
    assert [found.token_ids().tolist()[-1] for found in reading.answers] == [2]
    assert (reading.skipped, warnings) == (0, [])


def test_dataset_without_answers_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="B1: no answers here"):
        read(tmp_path)


def test_excluded_answers_are_left_out_and_counted_in_one_warning(tmp_path: Path) -> None:
    stored(tmp_path, answer(1), answer(2), answer(3), answer(2))
    unwanted = Exclusions.of({"B1": [f"{n:016x}" for n in (2, 9)], "B2": [f"{1:016x}"]}, by=["ada"])
    warnings: list[Warned] = []
    reading = read_answers(tmp_path, (B1,), LIMITS, warn=warnings.append, exclusions=unwanted)
    assert [found.name for found in reading.answers] == [f"{n:016x}" for n in (1, 3)]
    assert (reading.excluded, reading.skipped) == (1, 0)
    assert [(found.dataset, found.text) for found in warnings] == [("B1", f"1 answer excluded by ada (list {unwanted.hash})")]
