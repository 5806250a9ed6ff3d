"""The rows are the lines of the files, each once, whatever happens in between."""

from pathlib import Path
from typing import Any

import pytest

from eagle3web.domain import answer_copies
from eagle3web.domain.answer_copies import AnswerCopier, copier_of
from eagle3web.models import Answer, AnswerFile, Project
from pipeline.responses.record import Failure
from tests.support import factories
from tests.support.answers import SCOPE, answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


def write(root: Path, *lines: bytes, name: str = "part-00001.jsonl") -> Path:
    store = root / "B1"
    store.mkdir(exist_ok=True)
    with (store / name).open("ab") as file:
        file.writelines(lines)
    return store / name


def failure(n: int) -> bytes:
    fields: dict[str, Any] = {"dataset": "B1", "revision": SCOPE.revision, "sampling": SCOPE.sampling}
    return Failure(key=f"{n:016x}", id=f"row-{n}", reason="too long", failed_at="2026-11-30T11:24:12Z", **fields).to_line()


def copy_all(project: Project, root: Path) -> AnswerCopier:
    copier = AnswerCopier(project.pk, root)
    while copier.copy():
        pass
    return copier


def stored() -> list[tuple[str, str]]:
    return [(row.prompt_id, row.error) for row in Answer.objects.order_by("id")]


def test_new_lines_are_copied_in_their_order_with_where_they_lie(project: Project, tmp_path: Path) -> None:
    lines = [answer(n).to_line() for n in range(3)]
    path = write(tmp_path, *lines)
    copier = copy_all(project, tmp_path)
    assert stored() == [("row-0", ""), ("row-1", ""), ("row-2", "")]
    places = [(row.part, row.offset, row.size) for row in Answer.objects.order_by("id")]
    assert places == [(1, 0, len(lines[0])), (1, len(lines[0]), len(lines[1])), (1, len(lines[0] + lines[1]), len(lines[2]))]
    assert AnswerFile.objects.get().bytes_done == path.stat().st_size
    write(tmp_path, answer(3).to_line())
    write(tmp_path, answer(4).to_line(), name="part-00002.jsonl")
    assert copier.copy() > 0
    assert copier.copy() > 0
    assert copier.copy() == 0
    assert [name for name, _ in stored()][3:] == ["row-3", "row-4"]


def test_a_line_that_is_still_being_written_waits_for_its_end(project: Project, tmp_path: Path) -> None:
    line = answer(1).to_line()
    write(tmp_path, line[:20])
    copier = AnswerCopier(project.pk, tmp_path)
    assert copier.copy() == 0
    write(tmp_path, line[20:])
    assert copier.copy() == len(line)


def test_a_broken_line_is_passed_over_and_named(project: Project, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, b"{broken\n", answer(1).to_line())
    copy_all(project, tmp_path)
    assert stored() == [("row-1", "")]
    assert "part-00001.jsonl, byte 0: the line is passed over" in caplog.text


def test_one_call_takes_a_bounded_piece(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_copies, "BATCH_LINES", 2)
    write(tmp_path, *(answer(n).to_line() for n in range(5)))
    copier = AnswerCopier(project.pk, tmp_path)
    counts = []
    while copier.copy():
        counts.append(Answer.objects.count())
    assert counts == [2, 4, 5]


def test_the_first_answer_to_a_prompt_stays(project: Project, tmp_path: Path) -> None:
    write(tmp_path, answer(1, text="first").to_line(), answer(1, text="second").to_line())
    copy_all(project, tmp_path)
    assert [row.text for row in Answer.objects.all()] == ["first"]


def test_errors_are_copied_and_an_answer_takes_the_place_of_one(project: Project, tmp_path: Path) -> None:
    write(tmp_path, answer(1).to_line())
    write(tmp_path, failure(1), failure(2), failure(3), name="errors.jsonl")
    copier = copy_all(project, tmp_path)
    assert stored() == [("row-1", ""), ("row-2", "too long"), ("row-3", "too long")]
    write(tmp_path, answer(2).to_line())
    assert copier.copy() > 0
    assert sorted(stored()) == [("row-1", ""), ("row-2", ""), ("row-3", "too long")]


def test_a_failed_transaction_leaves_neither_rows_nor_position(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, answer(1).to_line())
    copier = AnswerCopier(project.pk, tmp_path)

    def killed(rows: list[Answer]) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(answer_copies, "_store", killed)
        with pytest.raises(KeyboardInterrupt):
            copier.copy()
    assert (Answer.objects.count(), AnswerFile.objects.count()) == (0, 0)
    assert copier.copy() > 0
    assert stored() == [("row-1", "")]


def test_two_that_copy_at_once_take_turns(project: Project, tmp_path: Path) -> None:
    write(tmp_path, *(answer(n).to_line() for n in range(3)))
    one, other = AnswerCopier(project.pk, tmp_path), AnswerCopier(project.pk, tmp_path)
    assert one.copy() == one_size(tmp_path)
    assert other.copy() == 0
    write(tmp_path, answer(3).to_line())
    assert other.copy() > 0
    one.copy()
    assert one.copy() == 0
    assert [name for name, _ in stored()] == [f"row-{n}" for n in range(4)]


def one_size(root: Path) -> int:
    return (root / "B1" / "part-00001.jsonl").stat().st_size


def test_a_file_that_was_made_anew_is_read_anew(project: Project, tmp_path: Path) -> None:
    path = write(tmp_path, answer(1).to_line(), answer(2).to_line())
    copy_all(project, tmp_path)
    path.write_bytes(answer(3).to_line())
    copy_all(project, tmp_path)
    assert stored() == [("row-3", "")]


def test_only_generations_have_answers_to_copy() -> None:
    config = {"responses": "/responses", "datasets": [{"slug": "B1"}]}
    assert copier_of(factories.attempt(config=config)) is not None
    assert copier_of(factories.attempt(factories.run(stage="extract"), config=config)) is None
    assert copier_of(factories.attempt(config={})) is None
