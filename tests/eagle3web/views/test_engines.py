import pytest
from django.test import Client

from eagle3web.models import Engine

pytestmark = pytest.mark.django_db
FIELDS = {"name": "kimi-a", "url": "http://gpu-07:30000", "protocol": "sglang", "model_name": ""}


def test_engine_is_registered(operator: Client) -> None:
    assert operator.post("/engines/register/", FIELDS).headers["Location"] == "/engines/"
    assert Engine.objects.get().url == "http://gpu-07:30000"
    assert "kimi-a is registered" in operator.get("/engines/").content.decode()


@pytest.mark.parametrize("changes", [{"name": ""}, {"url": "not an address"}, {"protocol": "smtp"}])
def test_engine_that_makes_no_sense_is_refused(operator: Client, changes: dict[str, str]) -> None:
    assert operator.post("/engines/register/", FIELDS | changes).status_code == 422
    assert Engine.objects.count() == 0


def test_name_that_is_taken_is_refused(operator: Client) -> None:
    operator.post("/engines/register/", FIELDS)
    answer = operator.post("/engines/register/", FIELDS)
    assert answer.status_code == 422
    assert "already exists" in answer.content.decode()
