from pathlib import Path

import pytest

from eagle3web.domain.run_numbers import refresh
from eagle3web.models import Attempt, Run
from pipeline.events import DatasetStarted, GenerationProgress
from tests.support import factories, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def attempt_of(run: Run, tmp_path: Path) -> Attempt:
    return factories.attempt(run, folder=str(tmp_path / f"attempt-{Attempt.objects.count()}"))


def progress(dataset: str, tokens: int) -> GenerationProgress:
    return GenerationProgress(
        dataset=dataset, done=1, total=9, errors=0, truncated=0, tokens=tokens, in_flight=1, in_flight_tokens=5,
        requests_per_s=1.0, tokens_per_s=9.0, mean_completion=5.0, longest=5, eta_s=None,
    )  # fmt: skip


def started(dataset: str) -> DatasetStarted:
    return DatasetStarted(dataset=dataset, prompts=9, done=0, tokens=0, budget=100, max_samples=None, budget_version=1)


def test_tokens_are_those_of_the_last_attempt(tmp_path: Path) -> None:
    run = factories.run()
    first = attempt_of(run, tmp_path)
    told.tell(first, [(1, started("B1")), (2, progress("B1", 7)), (3, progress("B2", 5))])
    assert Run.objects.get().tokens == 12
    second = attempt_of(run, tmp_path)
    told.tell(second, [(1, started("B1")), (2, progress("B1", 9))])
    assert Run.objects.get().tokens == 9


def test_training_keeps_its_best_loss_and_decoded_accept_length(tmp_path: Path) -> None:
    run = factories.run(stage="train")
    told.tell(attempt_of(run, tmp_path), [(n, told.evaluation(n)) for n in (100, 300, 200)] + [(400, told.decoded(300))])
    found = Run.objects.get()
    assert found.loss == told.evaluation(300).loss
    assert found.accept_length == told.decoded(300).accept_length


def test_measured_speedup_reaches_the_run_that_trained_the_drafter(tmp_path: Path) -> None:
    project = factories.project()
    trained = factories.run(project, stage="train")
    saved = factories.checkpoint(attempt_of(trained, tmp_path))
    bench = factories.run(project, stage="benchmark", config={"drafter": saved.path})
    told.tell(attempt_of(bench, tmp_path), [(1, row) for row in told.results()])
    assert list(Run.objects.order_by("pk").values_list("speedup", flat=True)) == [1.58, 1.58]
    bench.refresh_from_db()
    assert bench.accept_length == pytest.approx(1.3 * 1.58)


def test_refresh_forgets_what_is_gone() -> None:
    run = factories.run(tokens=5, loss=1.0, speedup=2.0)
    refresh(run.pk, ("tokens", "loss", "accept_length", "speedup"))
    run.refresh_from_db()
    assert (run.tokens, run.loss, run.accept_length, run.speedup) == (0, None, None, None)
