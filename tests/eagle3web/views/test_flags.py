"""Flagging and reviewing, and who may."""

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from eagle3web.models import Answer, AnswerFlag
from tests.eagle3web.views.conftest import client_of
from tests.support import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


@pytest.fixture
def reviewer(db: None) -> Client:
    return client_of("view_run", "add_answerflag", "change_answerflag")


@pytest.fixture
def row() -> Answer:
    return factories.stored_answer()


def flag_place(row: Answer) -> str:
    return reverse("answer-flag", args=[row.project.slug, row.pk])


def decision_place(found: AnswerFlag, verb: str) -> str:
    return reverse(f"flag-{verb}", args=[found.project.slug, found.pk])


def test_flag_needs_a_reason_and_leads_back(reviewer: Client, row: Answer) -> None:
    refused = reviewer.post(flag_place(row), {"reason": " "})
    assert refused.status_code == 422
    assert "Say why" in refused.content.decode()
    done = reviewer.post(flag_place(row), {"reason": "it loops"})
    assert done.headers["Location"] == reverse("answer", args=[row.project.slug, row.pk])
    assert AnswerFlag.objects.get().reason == "it loops"
    again = reviewer.post(flag_place(row), {"reason": "it loops"}, headers=HTMX)
    assert again.status_code == 422
    assert "it is flagged already" in again.content.decode()


def test_queue_shows_what_waits_and_what_was_decided(
    reviewer: Client, row: Answer, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    factories.flag(row, reason="it loops")
    for n in range(20):
        factories.flag(factories.stored_answer(row.project), state="excluded", reviewed_by=factories.user(f"ada-{n}"))
    place = reverse("answers-review", args=[row.project.slug])
    with django_assert_max_num_queries(20):
        page = reviewer.get(place).content.decode()
    assert "it loops" in page
    assert page.count("Exclude</button>") == 1
    with django_assert_max_num_queries(20):
        page = reviewer.get(place, {"state": "excluded"}).content.decode()
    assert page.count("Keep after all</button>") == 20
    assert "Nothing was kept yet" in reviewer.get(place, {"state": "kept"}).content.decode()


def test_decisions_lead_back_or_change_the_entry(reviewer: Client, row: Answer) -> None:
    found = factories.flag(row)
    done = reviewer.post(decision_place(found, "exclude"), {"state": "flagged"})
    assert done.headers["Location"].endswith("/answers/review/?state=flagged")
    found.refresh_from_db()
    assert found.state == "excluded"
    entry = reviewer.post(decision_place(found, "keep"), headers=HTMX).content.decode()
    assert f'id="flag-{found.pk}"' in entry
    assert "kept by" in entry


def test_people_without_the_right_are_refused_and_see_no_button(viewer: Client, row: Answer) -> None:
    found = factories.flag(row)
    for place in (flag_place(row), decision_place(found, "exclude"), decision_place(found, "keep")):
        assert viewer.post(place, {"reason": "x"}).status_code == 403
    page = viewer.get(reverse("answers-review", args=[row.project.slug])).content.decode()
    assert "<form" not in page.split('id="main"')[1]


def test_verbs_are_posted(reviewer: Client, row: Answer) -> None:
    found = factories.flag(row)
    for place in (flag_place(row), decision_place(found, "exclude"), decision_place(found, "keep")):
        assert reviewer.get(place).status_code == 405
