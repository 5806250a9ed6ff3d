import pytest

from eagle3web.queries.lengths import BINS, Lengths, answer_lengths
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_newest_count_of_each_dataset() -> None:
    attempt = factories.attempt()
    factories.event(attempt, "lengths_counted", dataset="B1", width=64, counts=[1])
    factories.event(attempt, "lengths_counted", dataset="B2", width=64, counts=[5, 1])
    factories.event(attempt, "lengths_counted", dataset="B1", width=64, counts=[2, 0, 3])
    assert answer_lengths(attempt.pk) == [
        Lengths("B2", [0, 64, 128], [5, 1]),
        Lengths("B1", [0, 64, 128, 192], [2, 0, 3]),
    ]


def test_many_bins_are_merged_and_no_answer_is_lost() -> None:
    attempt = factories.attempt()
    factories.event(attempt, "lengths_counted", dataset="B1", width=65, counts=[1] * 127)
    (found,) = answer_lengths(attempt.pk)
    assert len(found.counts) <= BINS
    assert found.answers == 127
    assert found.edges[:2] == [0, 260]


def test_odd_event_of_another_version_is_left_out() -> None:
    attempt = factories.attempt()
    factories.event(attempt, "lengths_counted", dataset="B1", width="wide", counts=["<b>"])
    factories.event(attempt, "lengths_counted", dataset="B2", counts=[1])
    assert answer_lengths(attempt.pk) == []
