"""Waiting for a database that is away."""

import time

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError

from eagle3web.domain.outages import RETRY_S, Patient
from eagle3web.models import Project
from tests.support import factories


class Work:
    """Fails as often as it is told to, then is done."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)


@pytest.mark.django_db(transaction=True)
def test_does_tells_whether_it_was_done(caplog: pytest.LogCaptureFixture) -> None:
    patient = Patient()
    work = Work(OperationalError("database is locked"), InterfaceError("connection already closed"))
    caplog.set_level("INFO")
    assert [patient.does(work) for _ in range(4)] == [False, False, True, True]
    assert caplog.text.count("the database is away (database is locked)") == 1
    assert caplog.text.count("the database is back after") == 1


@pytest.mark.django_db(transaction=True)
def test_is_ready_again_after_a_moment() -> None:
    patient = Patient()
    assert patient.is_ready()
    patient.does(Work(OperationalError("away")))
    assert not patient.is_ready()
    time.sleep(RETRY_S)
    assert patient.is_ready()


@pytest.mark.django_db(transaction=True)
def test_until_done_tries_until_it_is_done_or_given_up() -> None:
    work = Work(OperationalError("away"))
    assert Patient().until_done(work)
    assert work.calls == 2
    never = Work(*[OperationalError("away")] * 9)
    assert not Patient().until_done(never, give_up=lambda: never.calls == 2)
    assert never.calls == 2


@pytest.mark.django_db(transaction=True)
def test_does_opens_a_new_connection_after_a_failure() -> None:
    factories.project()
    patient = Patient()
    patient.does(Work(OperationalError("the connection was lost")))
    assert patient.does(Project.objects.count)


def test_does_lets_other_errors_through() -> None:
    with pytest.raises(IntegrityError):
        Patient().does(Work(IntegrityError("twice")))
