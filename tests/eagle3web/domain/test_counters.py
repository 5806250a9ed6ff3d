import pytest

from eagle3web.domain.counters import Counters
from eagle3web.models import Attempt
from pipeline.events import Warned
from tests.support import factories, told

pytestmark = pytest.mark.django_db


def test_counters_keep_the_last_word_of_each_kind() -> None:
    attempt = factories.attempt()
    counters = Counters(attempt)
    for event in (told.step(1), told.evaluation(1), told.step(2)):
        counters.apply(event)
    counters.save()
    found = Attempt.objects.get().counters
    assert sorted(found) == ["eval_logged", "step_logged"]
    assert (found["step_logged"]["step"], found["eval_logged"]["documents"]) == (2, 45)


def test_counters_say_whether_something_moved() -> None:
    counters = Counters(factories.attempt())
    told_twice = (told.extraction(tokens=5), told.extraction(tokens=5, tokens_per_s=9.0), told.extraction(tokens=6))
    assert [counters.apply(event) for event in told_twice] == [True, False, True]
    assert [counters.apply(event) for event in (told.step(1), told.step(1), Warned(text="hot"))] == [True, False, False]


def test_counters_go_on_from_what_is_stored() -> None:
    attempt = factories.attempt()
    first = Counters(attempt)
    first.apply(told.measured(3))
    first.save()
    assert not Counters(attempt).apply(told.measured(3))


def test_nothing_told_is_nothing_written() -> None:
    attempt = factories.attempt()
    Attempt.objects.update(counters={"kept": {}})
    Counters(factories.attempt()).save()
    assert Attempt.objects.get(pk=attempt.pk).counters == {"kept": {}}
