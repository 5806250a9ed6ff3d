"""What extraction, training and benchmarks say, through the ingestor into rows."""

from pathlib import Path

import pytest

from eagle3web.domain.ingest import Ingestor
from eagle3web.models import Attempt, BenchmarkRow, Checkpoint, DraftedAnswer, Event, MetricPoint
from pipeline.events import Warned
from tests.support import factories, told

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


@pytest.fixture
def attempt(tmp_path: Path) -> Attempt:
    return factories.attempt(factories.run(stage="train"), folder=str(tmp_path / "attempt"), progress_at=None)


def rows() -> list[int]:
    return [model.objects.count() for model in (MetricPoint, Checkpoint, BenchmarkRow, DraftedAnswer, Event)]


def test_reading_a_file_again_changes_nothing(attempt: Attempt) -> None:
    told.tell(attempt, told.training(attempt, first=0, last=450))
    told.tell(attempt, [(500, told.measured(3)), *((501, row) for row in told.results()), (502, told.drafted())])
    before = rows()
    assert min(before) > 0
    Event.objects.all().delete()
    Attempt.objects.update(events_offset=0, last_seq=0)
    ingestor = Ingestor(attempt)
    while ingestor.store():
        pass
    assert rows() == before


def test_what_moves_moves_the_progress_clock(attempt: Attempt) -> None:
    def clock_after(seconds: float, event: object) -> object:
        told.tell(attempt, [(seconds, event)])  # type: ignore[list-item]
        return Attempt.objects.get().progress_at

    assert clock_after(1, Warned(text="hot")) is None
    first = clock_after(2, told.extraction(tokens=10))
    assert first is not None
    assert clock_after(3, told.extraction(tokens=10, tokens_per_s=1.0)) == first
    moments = [
        clock_after(4, told.extraction(tokens=20)),
        clock_after(5, told.step(1)),
        clock_after(6, told.saved(attempt, 1)),
        clock_after(7, told.measured(1)),
    ]
    assert len({first, *moments}) == 5
