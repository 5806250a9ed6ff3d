from collections.abc import Iterable

import pytest

from eagle3web.models import Attempt, MetricPoint
from eagle3web.queries import curves
from tests.support import factories

pytestmark = pytest.mark.django_db
ALL = 2**40


def draw(attempt: Attempt, steps: Iterable[int], *, name: str = "loss", series: str = "", value: float = 1.0) -> None:
    for step in steps:
        factories.point(attempt, name, value, series=series, step=step)


def test_attempts_make_one_line_in_which_the_later_one_wins() -> None:
    run = factories.run(stage="train")
    first = factories.attempt(run, status="lost")
    draw(first, [10, 20, 30, 40])
    draw(first, [20, 40], name="eval_loss")
    second = factories.attempt(run)
    draw(second, [30, 40, 50], value=2.0)
    found = curves.curves_of(run.pk, number=2, metrics=["loss", "eval_loss"], up_to=ALL)
    assert found.lines["loss"] == [(10, 1.0), (20, 1.0), (30, 2.0), (40, 2.0), (50, 2.0)]
    # What the lost attempt evaluated beyond the place from which the next one went on did not happen in this line.
    assert found.lines["eval_loss"] == [(20, 1.0)]
    assert found.resumed == [(2, 30)]
    alone = curves.curves_of(run.pk, number=1, metrics=["loss"], up_to=ALL)
    assert (len(alone.lines["loss"]), alone.resumed) == (4, [])


def test_series_have_lines_of_their_own() -> None:
    attempt = factories.attempt()
    draw(attempt, [1], name="accuracy", series="0", value=0.7)
    draw(attempt, [1], name="accuracy", series="1", value=0.6)
    found = curves.curves_of(attempt.run_id, number=1, metrics=["accuracy"], up_to=ALL)
    assert found.lines == {"accuracy/0": [(1, 0.7)], "accuracy/1": [(1, 0.6)]}


def test_long_lines_are_sampled_and_keep_their_end() -> None:
    attempt = factories.attempt()
    rows = [MetricPoint(attempt=attempt, name="loss", t=attempt.created_at, step=n, value=n) for n in range(5000)]
    MetricPoint.objects.bulk_create(rows)
    found = curves.curves_of(attempt.run_id, number=1, metrics=["loss"], up_to=ALL)
    assert (found.drawn <= curves.LIMIT, found.total, found.lines["loss"][-1]) == (True, 5000, (4999, 4999.0))


def test_newer_points_are_entries_of_a_stream() -> None:
    attempt = factories.attempt()
    first = factories.point(attempt, "loss", 1.0, step=1)
    second = factories.point(attempt, "accuracy", 0.5, series="3", step=2)
    factories.point(attempt, "other", 9.0, step=2)
    metrics = ["loss", "accuracy"]
    assert curves.curve_points_after(attempt.pk, metrics, first.pk) == [(second.pk, ("accuracy/3", 2, 0.5))]
    assert curves.curve_points_after(attempt.pk, metrics, 0, up_to=first.pk) == [(first.pk, ("loss", 1, 1.0))]


def test_window_has_the_points_of_its_steps_only() -> None:
    run = factories.run(stage="train")
    draw(factories.attempt(run, status="lost"), [10, 20, 30, 40])
    draw(factories.attempt(run), [30, 40, 50], value=2.0)
    found = curves.curves_of(run.pk, number=2, metrics=["loss"], steps=(20, 40))
    assert found.lines["loss"] == [(20, 1.0), (30, 2.0), (40, 2.0)]
