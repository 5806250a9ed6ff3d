import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.datasets.containers import compression
from pipeline.datasets.report import Problem
from tests.support.prompts import CASES, read, write_lines

EXPECTED: dict[str, dict[str, Any]] = json.loads((CASES / "expected.json").read_text())


@pytest.mark.parametrize("name", EXPECTED)
def test_every_case_comes_out_as_expected(name: str) -> None:
    expected = EXPECTED[name]
    _, report = read(CASES / "datasets" / name)
    assert (report.accepted, report.rejected, report.error) == (
        expected["accepted"], expected["rejected"], expected.get("error", "")
    )  # fmt: skip
    assert {problem.id: problem.reason for problem in report.rejections} | expected.get("reasons", {}) == {
        problem.id: problem.reason for problem in report.rejections
    }


@pytest.mark.parametrize("name", EXPECTED)
def test_every_rejection_names_file_line_and_reason(name: str) -> None:
    _, report = read(CASES / "datasets" / name)
    assert len(report.rejections) == report.rejected
    assert all(problem.file == name and problem.line and problem.reason for problem in report.rejections)


def test_a_torn_last_line_is_named_by_its_number() -> None:
    _, report = read(CASES / "datasets" / "torn_and_blank.jsonl")
    assert [(problem.line, problem.reason) for problem in report.rejections] == [(4, "the last line is cut off")]


def test_a_leading_assistant_turn_is_dropped_with_a_warning() -> None:
    prompts, report = read(CASES / "datasets" / "sharegpt_from_value.json")
    assert prompts[1].messages == ({"role": "user", "content": "Sort a list in C"},)
    assert [(problem.id, problem.reason) for problem in report.warnings] == [("s2", "leading assistant turn dropped")]


def test_rows_that_share_an_id_and_differ_get_different_keys_that_stay() -> None:
    first, _ = read(CASES / "datasets" / "duplicate_ids.jsonl")
    second, report = read(CASES / "datasets" / "duplicate_ids.jsonl")
    assert [prompt.key for prompt in first] == [prompt.key for prompt in second]
    assert len({prompt.key for prompt in first}) == 2
    assert {prompt.id for prompt in first} == {"a2"}
    assert [(problem.line, problem.reason) for problem in report.rejections] == [(3, "duplicate")]


def test_the_same_prompt_under_two_ids_is_two_prompts(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "a.jsonl", {"id": 1, "prompt": "hi"}, {"id": 2, "prompt": "hi"}, {"prompt": "hi"}, {"prompt": "hi"}
    )
    prompts, report = read(path)
    assert [prompt.id for prompt in prompts] == ["1", "2", ""]
    assert report.reasons == {"duplicate": 1}


def test_ids_are_labels_in_the_words_of_the_file() -> None:
    prompts, _ = read(CASES / "datasets" / "huge_number_id.jsonl")
    assert [prompt.id for prompt in prompts] == ["1000000000000000000000000000000", "1.0", "", "../../outside/secret"]


def test_a_damaged_file_keeps_what_was_read_before(tmp_path: Path) -> None:
    rows = [{"id": i, "prompt": f"{i} " + "x" * 50} for i in range(2000)]
    path = write_lines(tmp_path / "a.jsonl", *rows)
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(path.read_bytes())[:-600])
    prompts, report = read(packed)
    assert 0 < len(prompts) < 2000
    assert [prompt.id for prompt in prompts] == [str(i) for i in range(len(prompts))]
    (problem,) = report.rejections
    assert problem.line == len(prompts) + 1
    assert problem.reason.startswith("compressed data is cut or damaged")
    assert report.error == ""


def test_an_unknown_vocabulary_is_warned_of_once(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "ids.jsonl", {"input_ids": [5, 6]}, {"input_ids": [7]})
    prompts, report = read(path)
    assert [prompt.input_ids for prompt in prompts] == [(5, 6), (7,)]
    assert [problem.line for problem in report.warnings] == [1]
    _, checked = read(path, vocab_size=7)
    assert (checked.accepted, checked.warned, checked.reasons) == (1, 0, {"token id out of range": 1})


def test_the_name_that_people_know_stands_in_the_report(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "upload-8f3a", "no json")
    _, report = read(path, name="mine.jsonl")
    assert report.rejections == [
        Problem(
            file="mine.jsonl", line=1, index=0, id=None,
            reason="not valid JSON", detail="Expecting value: line 1 column 1 (char 0)",
        )
    ]  # fmt: skip


def test_problems_are_listed_up_to_a_thousand_and_all_are_counted(tmp_path: Path) -> None:
    _, report = read(write_lines(tmp_path / "a.jsonl", *["x"] * 1500))
    assert (report.rejected, len(report.rejections), report.reasons) == (1500, 1000, {"not valid JSON": 1500})


def test_a_label_that_cannot_be_stored_is_shown_escaped(tmp_path: Path) -> None:
    _, report = read(write_lines(tmp_path / "a.jsonl", r'{"id": "x\ud83dy\u0000", "prompt": "hi"}'))
    assert [(problem.id, problem.reason) for problem in report.rejections] == [("x\\ud83dy\\0", "text holds a lone surrogate")]


def test_only_blank_lines_are_an_empty_file(tmp_path: Path) -> None:
    _, report = read(write_lines(tmp_path / "a.jsonl", "", "  ", "\r"))
    assert (report.accepted, report.rejected, report.error) == (0, 0, "the file is empty")


def test_a_bomb_is_named_at_its_line_and_the_rows_before_it_are_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compression, "EXPANDED_ANYWAY", 1 << 20)
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"prompt": "one"}\n{"prompt": "two"}\n' + b" " * (1 << 26)))
    prompts, report = read(path)
    assert len(prompts) == 2
    (problem,) = report.rejections
    assert (problem.file, problem.line) == ("bomb.jsonl.gz", 3)
    assert "unpacks to more than" in problem.reason
