from pathlib import Path

import pytest

from eagle3web.models import Attempt, MetricPoint
from pipeline.drafter_events import DecodeEvalLogged
from tests.support import factories, told

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(folder=str(tmp_path / "attempt"))


def points(name: str) -> list[tuple[str, int, float]]:
    return list(MetricPoint.objects.filter(name=name).order_by("id").values_list("series", "step", "value"))


def test_extraction_has_lines_of_tokens_bytes_rate_and_agreement(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.extraction(documents=5, tokens=100, bytes=4000, agreed=95, compared=100, tokens_per_s=7.0))])
    found = [points(name) for name in ("tokens", "bytes", "tokens_per_s", "agreement")]
    assert found == [[("", 5, 100.0)], [("", 5, 4000.0)], [("", 5, 7.0)], [("", 5, 0.95)]]


def test_extraction_without_comparisons_has_no_agreement(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.extraction(agreed=0, compared=0))])
    assert points("agreement") == []


def test_steps_have_one_line_for_each_step_of_the_test(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.step(40, accuracy=(0.7, 0.6), loss=1.5, learning_rate=0.001, grad_norm=0.5))])
    assert points("accuracy") == [("0", 40, 0.7), ("1", 40, 0.6)]
    assert [points(name)[0][2] for name in ("loss", "learning_rate", "grad_norm")] == [1.5, 0.001, 0.5]
    assert {name for name, in MetricPoint.objects.values_list("name").distinct()} == {
        "loss", "learning_rate", "grad_norm", "tokens_per_s", "memory_bytes", "accuracy", "step_loss",
    }  # fmt: skip


def test_steps_of_one_second_share_a_point_and_the_last_one_has_its_own(attempt: Attempt) -> None:
    told.tell(attempt, [(0.4 * n, told.step(n, total=5)) for n in range(1, 6)])
    assert [step for _, step, _ in points("loss")] == [1, 4, 5]


def test_every_evaluation_has_its_points_by_dataset_too(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.evaluation(100)), (1.1, told.evaluation(200))])
    assert [step for series, step, _ in points("simulated_accept_length") if series == ""] == [100, 200]
    assert {series for series, _, _ in points("simulated_accept_length")} == {"", *told.DATASETS}
    event = DecodeEvalLogged(step=200, accept_length=2.5, prompts=8, tokens=900, datasets={"B1": 2.25})
    told.tell(attempt, [(2, event)])
    assert points("accept_length") == [("", 200, 2.5), ("B1", 200, 2.25)]


def test_passes_are_points_of_their_mode(attempt: Attempt) -> None:
    told.tell(attempt, [(1, told.measured(1, mode="plain", shape="")), (2, told.measured(2))])
    assert [(series, step) for series, step, _ in points("tokens_per_s")] == [("plain", 1), ("drafter 3/1/4", 2)]
