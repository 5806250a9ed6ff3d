"""The registry of engines over the API."""

import pytest

from eagle3web.enums import EngineState, Role
from eagle3web.models import AuditEntry, Engine
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_engine_is_registered_and_changed_with_a_trace() -> None:
    api = caller("ada", Role.OPERATOR)
    answer = api.post("/api/engines", {"name": "e1", "url": "http://gpu-07:30000"})
    assert (answer.status_code, answer.json()["state"], answer.json()["protocol"]) == (201, "unknown", "sglang")
    assert api.patch("/api/engines/e1", {"enabled": False}).json()["enabled"] is False
    verbs = AuditEntry.objects.filter(verb__startswith="engine.").order_by("id").values_list("verb", "user__username")
    assert list(verbs) == [("engine.register", "ada"), ("engine.change", "ada")]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "gpu-07:30000",
        "ftp://gpu-07",
        "http://",
        "http://user:pw@gpu-07",
        "http://gpu 07",
        "http://gpu-07:99999",
        "http://[::1",
    ],
)
def test_address_that_is_no_base_url_is_refused(url: str) -> None:
    answer = caller("ada", Role.OPERATOR).post("/api/engines", {"name": "e1", "url": url})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "url")
    assert Engine.objects.count() == 0


def test_health_is_shown_as_last_seen() -> None:
    make.engine(name="e1", state=EngineState.HANGING, reason="no answer for 10 s")
    answer = caller("ada", Role.VIEWER).get("/api/engines/e1").json()
    assert (answer["state"], answer["reason"]) == ("hanging", "no answer for 10 s")
