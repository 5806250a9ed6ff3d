import io

import pytest
from django.core.management import CommandError, call_command

from eagle3web.models import Run
from tests.support import factories

pytestmark = pytest.mark.django_db
FEW = {"runs": 60, "checkpoints": 10, "points": 2000, "events": 500, "answers": 200}


def test_command_writes_and_says_how_much() -> None:
    said = io.StringIO()
    call_command("seed", project="big", stdout=said, **FEW)
    assert said.getvalue() == "Big drafter: 2,770 rows\n"
    assert Run.objects.filter(project__slug="big").count() == 60


def test_command_refuses_a_database_with_runs() -> None:
    factories.run()
    with pytest.raises(CommandError, match="--force"):
        call_command("seed", **FEW)


def test_command_refuses_too_few_rows() -> None:
    with pytest.raises(CommandError, match="Too few"):
        call_command("seed", **FEW | {"runs": 3})
