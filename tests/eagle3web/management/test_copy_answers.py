"""Old answers, from the command line."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from eagle3web.models import Answer
from pipeline.artifacts import Home
from tests.support import factories
from tests.support.answers import answer
from tests.support.extraction import store_answers

pytestmark = pytest.mark.django_db


def output(slug: str) -> str:
    stream = StringIO()
    call_command("copy_answers", slug, stdout=stream)
    return stream.getvalue()


def test_all_answers_are_copied_once(home: Path) -> None:
    project = factories.project(slug="k2")
    folder = Home(home).responses("k2")
    folder.parent.mkdir(parents=True)
    store_answers(folder.parent, [answer(n) for n in range(120)])
    assert "120 answers and failures of k2 are in the database" in output("k2")
    assert output("k2").startswith("0 bytes copied; 120 answers")
    assert Answer.objects.filter(project=project).count() == 120


def test_what_is_not_here_is_named(home: Path) -> None:
    with pytest.raises(CommandError, match="no project k3"):
        output("k3")
    factories.project(slug="k2")
    with pytest.raises(CommandError, match="is not on this host"):
        output("k2")
