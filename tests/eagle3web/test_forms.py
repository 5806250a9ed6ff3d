import pytest

from eagle3web.forms import RunForm
from tests.support import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("key", ["99999999999999999999", "7", "x"])
def test_keys_that_no_engine_has_are_unknown_choices(key: str) -> None:
    form = RunForm({"engines": [key], "concurrency": 8, "order": "sequential"}, hosts=[])
    assert not form.is_valid()
    assert list(form.errors) == ["engines"]


def test_an_engine_is_chosen_by_its_key() -> None:
    engine = factories.engine()
    form = RunForm({"engines": [str(engine.pk)], "concurrency": 8, "order": "sequential"}, hosts=[])
    form.is_valid()
    assert list(form.cleaned_data["engines"]) == [engine]
