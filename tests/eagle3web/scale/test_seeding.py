import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from eagle3web.models import Answer, Attempt, BenchmarkRow, Checkpoint, Event, MetricPoint, Project, Run, RunInput
from eagle3web.scale.seeding import SeedRefused, seed
from eagle3web.scale.size import Size
from tests.support import factories

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SMALL = Size().scaled(0)


def quiet(kind: str, rows: int) -> None:
    pass


def test_project_has_as_many_rows_as_asked_for() -> None:
    told = dict.fromkeys(("runs", "checkpoints", "points", "events", "answers"), 0)

    def report(kind: str, rows: int) -> None:
        told[kind] += rows

    seed("scale", SMALL, now=NOW, report=report)
    counted = [model.objects.count() for model in (Run, Checkpoint, MetricPoint, Event, Answer)]
    assert counted == list(told.values()) == [60, 10, 2000, 500, 200]
    assert Checkpoint.objects.filter(promoted=True).count() == 1
    assert set(Run.objects.values_list("status", flat=True)) >= {"queued", "running", "finished"}


@pytest.mark.slow
def test_same_arguments_make_the_same_rows() -> None:
    def rows() -> list[object]:
        runs = Run.objects.order_by("pk").values_list("stage", "status", "title", "tags", "speedup", "created_at")
        points = MetricPoint.objects.order_by("pk").values_list("name", "series", "step", "value", "t")
        return [*runs, *points, *BenchmarkRow.objects.order_by("pk").values_list("mode", "speedup")]

    seed("scale", SMALL, now=NOW, report=quiet)
    first = rows()
    for model in (MetricPoint, Event, Answer, BenchmarkRow, Checkpoint, RunInput, Attempt, Run, Project):
        model.objects.all().delete()
    seed("scale", SMALL, now=NOW, report=quiet)
    assert rows() == first


def test_database_with_runs_is_left_alone_unless_forced() -> None:
    factories.run()
    with pytest.raises(SeedRefused, match="--force"):
        seed("scale", SMALL, now=NOW, report=quiet)
    assert Run.objects.count() == 1
    seed("scale", SMALL, now=NOW, force=True, report=quiet)
    with pytest.raises(SeedRefused, match="already"):
        seed("scale", SMALL, now=NOW, force=True, report=quiet)


@pytest.mark.usefixtures("home")
@pytest.mark.slow
def test_pages_of_a_seeded_project_can_be_looked_at() -> None:
    seed("scale", SMALL, now=NOW, report=quiet)
    root = Client()
    root.force_login(factories.user(is_superuser=True))
    numbers = dict(Run.objects.values_list("stage", "pk"))
    base = "/projects/scale/"
    places = [base, f"{base}runs/", f"{base}checkpoints/", f"{base}benchmarks/", f"{base}answers/", f"{base}budgets/"]
    places += [f"/runs/{pk}/" for pk in numbers.values()]
    places.append(f"{base}compare/?runs={','.join(str(pk) for pk in numbers.values())}")
    for place in places:
        answer = root.get(place)
        assert answer.status_code == 200, place
    assert re.search(r"1 to 25 of\s60", root.get(f"{base}runs/").content.decode().replace("\u00a0", " "))
