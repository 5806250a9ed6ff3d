from datetime import UTC, datetime, timedelta

import pytest

from eagle3web.domain.points import Points
from eagle3web.models import Attempt, MetricPoint
from tests.support import factories

pytestmark = pytest.mark.django_db
START = datetime(2026, 11, 30, 12, tzinfo=UTC)


def after(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def draw_every_second(attempt: Attempt, seconds: int, *, spread: bool) -> int:
    points = Points(attempt)
    for second in range(seconds):
        if points.is_due("loss", "", after(second), spread=spread):
            points.draw(after(second), {("loss", ""): 1.0}, step=second)
    points.save()
    return MetricPoint.objects.filter(attempt=attempt).count()


def test_points_stand_a_second_apart() -> None:
    points = Points(factories.attempt())
    points.draw(START, {("loss", ""): 1.0})
    due = [points.is_due("loss", "", after(0.9)), points.is_due("loss", "", after(1.0)), points.is_due("loss", "x", after(0.1))]
    assert due == [False, True, True]


@pytest.mark.slow
def test_points_stand_further_apart_the_longer_an_attempt_runs() -> None:
    assert draw_every_second(factories.attempt(), 20_000, spread=False) == 20_000
    few = draw_every_second(factories.attempt(), 20_000, spread=True)
    assert 3000 < few < 4500


def test_line_takes_no_point_twice_when_a_file_is_read_again() -> None:
    attempt = factories.attempt()
    for _ in range(2):
        points = Points(attempt, again=True)
        for second in range(6):
            if points.is_due("tokens", "", after(second / 2)):
                points.draw(after(second / 2), {("tokens", ""): second}, step=second)
        points.draw(after(5), {("loss", ""): 0.5, ("lr", ""): 0.1}, step=9)
        points.save()
    found = MetricPoint.objects.order_by("id").values_list("name", "step", "value")
    drawn = [("tokens", 0, 0.0), ("tokens", 2, 2.0), ("tokens", 4, 4.0)]
    assert list(found) == [*drawn, ("loss", 9, 0.5), ("lr", 9, 0.1)]


def test_line_goes_on_when_the_clock_is_set_back() -> None:
    attempt = factories.attempt()
    moments = [after(0), after(7200), after(2), after(3), after(3.5), after(4)]
    for step, moment in enumerate(moments):
        points = Points(attempt)
        if points.is_due("loss", "", moment):
            points.draw(moment, {("loss", ""): 1.0}, step=step)
        points.save()
    assert list(MetricPoint.objects.order_by("id").values_list("step", flat=True)) == [0, 1, 2, 3, 5]


def test_names_and_steps_are_cut_to_their_columns() -> None:
    points = Points(factories.attempt())
    points.draw(START, {("n" * 99, "s" * 99): 1.0}, step=-4)
    points.save()
    point = MetricPoint.objects.get()
    assert (point.name, point.series, point.step) == ("n" * 40, "s" * 80, 0)
