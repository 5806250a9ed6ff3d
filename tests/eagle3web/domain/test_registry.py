"""Engines are registered and changed with a trace."""

import pytest
from django.core.exceptions import ValidationError

from eagle3web.domain.registry import change_engine, register_engine
from eagle3web.enums import EngineState
from eagle3web.models import AuditEntry, Engine
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def test_new_engine_is_unknown_until_it_is_asked() -> None:
    engine = register_engine("e1", user=make.user("ada"), url="http://gpu-07:30000")
    assert (engine.state, engine.enabled) == (EngineState.UNKNOWN, True)
    assert list(AuditEntry.objects.values_list("user__username", "verb")) == [("ada", "engine.register")]


@pytest.mark.parametrize("url", ["ftp://host", "javascript:alert(1)", "host:30000", ""])
def test_bad_address_is_refused(url: str) -> None:
    with pytest.raises(ValidationError) as refused:
        register_engine("e1", user=None, url=url)
    assert list(refused.value.message_dict) == ["url"]


def test_names_are_unique() -> None:
    make.engine(name="e1")
    with pytest.raises(ValidationError, match="already exists"):
        register_engine("e1", user=None, url="http://gpu-07:30000")


def test_change_leaves_what_the_system_wrote_in_the_meantime() -> None:
    engine = make.engine(name="e1", state=EngineState.HEALTHY)
    Engine.objects.update(state=EngineState.DOWN)
    change_engine(engine, user=None, enabled=False)
    assert list(Engine.objects.values_list("enabled", "state")) == [(False, EngineState.DOWN)]
    assert AuditEntry.objects.get().detail["changes"] == {"enabled": [True, False]}


def test_change_to_what_stands_leaves_no_trace() -> None:
    engine = make.engine()
    change_engine(engine, user=None, url=engine.url)
    assert AuditEntry.objects.count() == 0
