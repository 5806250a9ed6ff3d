from pathlib import Path

import pytest

from eagle3web.domain.answer_copies import AnswerCopier
from eagle3web.domain.answer_reads import AnswerAwayError, whole_answer
from eagle3web.models import Answer
from pipeline.artifacts import Home
from tests.support import factories
from tests.support.answers import answer
from tests.support.extraction import store_answers

pytestmark = pytest.mark.django_db


@pytest.fixture
def part(home: Path) -> Path:
    """Two answers of a project on this host, copied."""
    project = factories.project()
    folder = Home(home).responses(project.slug)
    folder.parent.mkdir(parents=True)
    store_answers(folder.parent, [answer(1), answer(2, text="x" * 9000)])
    AnswerCopier(project.pk, folder).copy()
    return folder / "B1" / "part-00001.jsonl"


def test_the_whole_answer_comes_from_its_file(part: Path) -> None:
    row = Answer.objects.get(prompt_id="row-2")
    assert (len(row.text), row.cut) == (4000, True)
    assert whole_answer(row).text == "x" * 9000


def test_a_host_without_the_file_says_so(part: Path) -> None:
    part.unlink()
    with pytest.raises(AnswerAwayError, match="is not on this host"):
        whole_answer(Answer.objects.get(prompt_id="row-1"))


def test_a_file_that_was_changed_is_not_mistaken_for_the_answer(part: Path) -> None:
    first, second = Answer.objects.order_by("id")
    part.write_bytes(answer(3).to_line() * 50)
    with pytest.raises(AnswerAwayError, match="another answer stands there"):
        whole_answer(first)
    with pytest.raises(AnswerAwayError, match="has been changed since"):
        whole_answer(second)
