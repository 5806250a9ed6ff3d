"""Answers in a browser without a script."""

from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain.answer_copies import AnswerCopier
from eagle3web.models import Answer, Project
from pipeline.artifacts import Home
from tests.support import factories
from tests.support.answers import answer
from tests.support.extraction import store_answers

pytestmark = pytest.mark.django_db
HOSTILE = factories.HOSTILE.replace("\x00", "")


@pytest.fixture
def project() -> Project:
    project = factories.project()
    factories.answer_file(project)
    return project


def place(project: Project, query: str = "") -> str:
    return reverse("answers", args=[project.slug]) + query


def test_list_costs_few_queries_however_long_it_is(
    viewer: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(60):
        factories.flag(factories.stored_answer(project))
    with django_assert_max_num_queries(20):
        page = viewer.get(place(project)).content.decode()
    assert page.count("data-opens") == 50
    assert "60 matches" in page
    assert "Next page" in page


def test_list_keeps_its_filters_in_the_address(viewer: Client, project: Project) -> None:
    factories.stored_answer(project, prompt="about cats", tokens=10)
    factories.stored_answer(project, prompt="about dogs", tokens=20)
    page = viewer.get(place(project, "?dataset=B1&q=about&min=15&sort=longest&finish=stop&repetition=0")).content.decode()
    assert "about dogs" in page
    assert "about cats" not in page
    assert '<option value="longest" selected>' in page
    assert 'value="15"' in page
    assert 'value="about"' in page


def test_table_alone_is_answered_to_a_part_of_the_page(viewer: Client, project: Project) -> None:
    factories.stored_answer(project)
    page = viewer.get(place(project), headers={"HX-Request": "true", "HX-Target": "answers-table"}).content.decode()
    assert page.strip().startswith('<div id="answers-table">')


def test_empty_lists_say_what_to_do(viewer: Client, project: Project) -> None:
    assert "No answer matches" in viewer.get(place(project)).content.decode()
    other = factories.project()
    assert f"copy_answers {other.slug}" in viewer.get(place(other)).content.decode()
    assert "That was all" in viewer.get(place(project, "?after=0_0")).content.decode()


def test_summary_has_its_numbers_and_charts(viewer: Client, project: Project) -> None:
    factories.stored_answer(project, finish_reason="length", tokens=400)
    row = factories.stored_answer(project, repetition=0.5)
    factories.flag(row, state="excluded")
    page = viewer.get(reverse("answers-summary", args=[project.slug]), {"dataset": "B1"}).content.decode()
    for key in ("c-a-lengths", "c-a-ends", "c-a-repeats", "c-a-languages"):
        assert f'id="{key}"' in page
    assert "still count as generated" in page


def test_summary_is_counted_once_for_each_newest_answer(
    viewer: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    where = reverse("answers-summary", args=[project.slug]) + "?dataset=B1"
    factories.stored_answer(project)
    assert '<dd class="big">1</dd>' in viewer.get(where).content.decode()
    with django_assert_max_num_queries(8):
        viewer.get(where)
    factories.stored_answer(project)
    assert '<dd class="big">2</dd>' in viewer.get(where).content.decode()


def test_hostile_answers_are_text_everywhere(viewer: Client, project: Project) -> None:
    row = factories.stored_answer(
        project, prompt=HOSTILE, text=f"<think>{HOSTILE}</think>{HOSTILE}", prompt_id=HOSTILE, language="<b>L", engine="<b>e"
    )
    factories.flag(row, reason=HOSTILE)
    factories.stored_answer(project, error=HOSTILE, finish_reason="")
    places = [
        place(project), reverse("answer", args=[project.slug, row.pk]), reverse("answers-review", args=[project.slug]),
        reverse("answers-summary", args=[project.slug]) + "?dataset=B1",
    ]  # fmt: skip
    for where in places:
        page = viewer.get(where).content.decode()
        assert "<script>alert" not in page
        assert "<b>bold" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page


def test_answer_shows_the_whole_where_its_file_is(viewer: Client, home: Path) -> None:
    project = factories.project()
    folder = Home(home).responses(project.slug)
    folder.parent.mkdir(parents=True)
    text = "<think>hm</think>" + "x" * 6000
    store_answers(folder.parent, [answer(1, text=text, messages=({"role": "system", "content": "be kind"},))])
    AnswerCopier(project.pk, folder).copy()
    where = reverse("answer", args=[project.slug, Answer.objects.get().pk])
    page = viewer.get(where).content.decode()
    assert "x" * 6000 in page
    assert "be kind" in page
    assert '<pre class="think">&lt;think&gt;hm&lt;/think&gt;</pre>' in page
    (folder / "B1" / "part-00001.jsonl").unlink()
    page = viewer.get(where).content.decode()
    assert "Only the beginning is shown" in page
    assert "is not on this host" in page


def test_answer_of_another_project_is_not_there(viewer: Client, project: Project) -> None:
    row = factories.stored_answer()
    assert viewer.get(reverse("answer", args=[project.slug, row.pk])).status_code == 404
