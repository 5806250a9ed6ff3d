"""A file that lost its end: rows of lines that are gone go, and what was written since is copied."""

from pathlib import Path

import pytest

from eagle3web.domain.answer_copies import AnswerCopier
from eagle3web.domain.answer_places import checked_position
from eagle3web.models import Answer, AnswerFile, Project
from tests.support import factories
from tests.support.answers import answer

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return factories.project()


@pytest.fixture
def part(tmp_path: Path, project: Project) -> Path:
    """Five answers, copied."""
    path = tmp_path / "B1" / "part-00001.jsonl"
    path.parent.mkdir()
    path.write_bytes(b"".join(answer(n).to_line() for n in range(5)))
    copy(project, path)
    return path


def copy(project: Project, part: Path) -> None:
    copier = AnswerCopier(project.pk, part.parent.parent)
    while copier.copy():
        pass


def places() -> dict[str, tuple[int, int]]:
    return {row.prompt_id: (row.offset, row.size) for row in Answer.objects.order_by("offset")}


def real_places(part: Path, *numbers: int) -> dict[str, tuple[int, int]]:
    found, offset = {}, 0
    for number, line in zip(numbers, part.read_bytes().splitlines(keepends=True), strict=True):
        found[f"row-{number}"] = (offset, len(line))
        offset += len(line)
    return found


def test_a_whole_file_is_where_it_was(project: Project, part: Path) -> None:
    size = part.stat().st_size
    assert checked_position(project.pk, part, size) == size
    assert places() == real_places(part, 0, 1, 2, 3, 4)


@pytest.mark.parametrize("more", [(), (7,), (7, 8, 9), (3, 4), (4, 3, 9)])
def test_rows_follow_a_file_that_was_cut_and_written_on(project: Project, part: Path, more: tuple[int, ...]) -> None:
    part.write_bytes(b"".join(answer(n).to_line() for n in (0, 1, 2, *more)))
    copy(project, part)
    assert places() == real_places(part, 0, 1, 2, *more)
    assert AnswerFile.objects.get().bytes_done == part.stat().st_size


def test_half_a_line_is_no_answer(project: Project, part: Path) -> None:
    whole = part.read_bytes()
    part.write_bytes(whole[:-40])
    copy(project, part)
    assert list(places()) == ["row-0", "row-1", "row-2", "row-3"]
    part.write_bytes(whole)
    copy(project, part)
    assert places() == real_places(part, 0, 1, 2, 3, 4)


def test_a_file_that_begins_anew_is_copied_anew(project: Project, part: Path) -> None:
    part.write_bytes(answer(8).to_line())
    copy(project, part)
    assert places() == real_places(part, 8)
