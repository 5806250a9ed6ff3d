from dataclasses import replace
from pathlib import Path

import pytest

from eagle3web.domain.answer_rows import last_user_message, row_of_answer, row_of_failure
from pipeline.errors import DataError
from pipeline.responses.record import Failure, Response
from pipeline.responses.scan import PartLine
from tests.support.answers import SCOPE, answer


def line(response: Response | None, problem: str = "") -> PartLine:
    return PartLine(path=Path("part-00003.jsonl"), part=3, number=8, offset=700, size=90, response=response, problem=problem)


def test_a_row_has_what_lists_and_searches_need() -> None:
    row = row_of_answer(5, "B1", line(answer(7, output_ids=(1, 1, 1, 1, 1), finish_reason="length")))
    assert (row.project_id, row.dataset, row.key, row.scope) == (5, "B1", f"{7:016x}", SCOPE.digest.hex())
    assert (row.prompt_id, row.prompt, row.text, row.cut, row.error) == ("row-7", "question 7", "answer 7", False, "")
    assert (row.finish_reason, row.prompt_tokens, row.tokens, row.repetition) == ("length", 3, 5, 0.5)
    assert (row.language, row.part, row.offset, row.size, row.engine) == ("Latin", 3, 700, 90, "e1")
    assert row.finished_at is not None
    assert row.finished_at.isoformat() == "2026-11-30T11:24:12+00:00"


def test_long_texts_are_cut_and_what_a_database_cannot_store_is_replaced() -> None:
    row = row_of_answer(5, "B1", line(answer(7, text="a\0b\ud800" + "x" * 5000)))
    assert row.text == "a␀b?" + "x" * 3996
    assert row.cut
    assert not row_of_answer(5, "B1", line(answer(7, text="y" * 4000))).cut


def test_the_last_message_of_the_user_is_the_prompt() -> None:
    turns = ({"role": "user", "content": "one"}, {"role": "assistant", "content": "two"})
    assert last_user_message(turns) == "one"
    assert last_user_message(()) == ""
    parts = [{"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"}]
    assert last_user_message(({"role": "user", "content": parts},)) == "a\n\nb"
    assert last_user_message(({"role": "user", "content": None},)) == ""


def test_repetition_of_an_engine_that_returns_text_alone_is_that_of_its_words() -> None:
    row = row_of_answer(5, "B1", line(answer(7, output_ids=(), text="no no no no no")))
    assert row.repetition == 0.5


def test_lines_that_are_no_answers_are_refused() -> None:
    with pytest.raises(DataError, match="the line is broken"):
        row_of_answer(5, "B1", line(None, "the line is broken"))
    odd = [answer(1, key="k" * 65), answer(1, key=""), answer(1, key="a\0"), answer(1, prompt_tokens="many")]
    odd += [replace(answer(1), output_ids=([1], [2], [3], [4]))]  # type: ignore[arg-type]  # edited by hand
    for response in odd:
        with pytest.raises(DataError):
            row_of_answer(5, "B1", line(response))


def test_an_answer_always_has_a_finish_reason_and_a_failure_an_error() -> None:
    assert row_of_answer(5, "B1", line(answer(1, finish_reason=""))).finish_reason == "other"
    failure = Failure(key="a", id="row-1", dataset="B1", revision="rev1", sampling="greedy00", reason="", failed_at="yesterday")
    row = row_of_failure(5, "B1", failure.to_line())
    assert (row.key, row.finish_reason, row.error, row.finished_at) == ("a", "", "no reason is known", None)
    assert row.scope == SCOPE.digest.hex()
