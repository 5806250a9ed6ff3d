from pathlib import Path

import pytest

from eagle3web.domain import benchmarks
from eagle3web.models import Attempt, BenchmarkRow, DraftedAnswer
from tests.support import factories, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(factories.run(stage="benchmark"), folder=str(tmp_path / "attempt"))


def test_result_has_a_row_with_all_its_numbers(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.summarised("B1", "drafter", 1.5, acceptance=(0.7, 0.6), identical=23))])
    row = BenchmarkRow.objects.get()
    assert (row.dataset, row.mode, row.shape, row.concurrency) == ("B1", "drafter", "3/1/4", 1)
    assert (row.speedup, row.speedup_low, row.speedup_high) == (1.5, 1.46, 1.53)
    assert (row.acceptance, row.identical, row.requests, row.first_token_s) == ([0.7, 0.6], 23, 24, 0.031)


def test_later_result_of_the_same_combination_replaces_it(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.summarised("B1", "lookup", 1.1)), (2, told.summarised("B1", "lookup", 1.2))])
    assert [row.speedup for row in BenchmarkRow.objects.all()] == [1.2]


def test_drafters_row_names_the_checkpoint_that_the_config_does(attempt: Attempt) -> None:
    train = factories.attempt(factories.run(attempt.run.project, stage="train"))
    checkpoint = factories.checkpoint(train)
    attempt.config = {"drafter": f"{checkpoint.path}/"}
    attempt.save()
    told.tell(attempt, [(1, told.summarised("", "plain")), (2, told.summarised("", "drafter", 1.4))])
    assert list(BenchmarkRow.objects.order_by("id").values_list("mode", "checkpoint")) == [
        ("plain", None),
        ("drafter", checkpoint.pk),
    ]


def test_drafter_of_somebody_else_has_no_checkpoint(attempt: Attempt) -> None:
    attempt.config = {"drafter": "/elsewhere"}
    attempt.save()
    told.tell(attempt, [(1, told.summarised("", "drafter", 1.4))])
    assert BenchmarkRow.objects.get().checkpoint is None


def test_answers_are_bounded(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmarks, "MAX_ANSWERS", 2)
    long = told.drafted(prompt_id="0", pieces=("x" * 900, "y"), depths=(-3, 2, 9), prompt="p" * 9000)
    told.tell(attempt, [(1, long), *((2, told.drafted(prompt_id=str(n))) for n in range(1, 4))])
    assert list(DraftedAnswer.objects.values_list("prompt_id", flat=True)) == ["0", "1"]
    row = DraftedAnswer.objects.get(prompt_id="0")
    assert (row.pieces, row.depths, len(row.prompt)) == (["x" * benchmarks.PIECE_LIMIT, "y"], [0, 2], benchmarks.PROMPT_LIMIT)
