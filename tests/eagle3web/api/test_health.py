"""The public health address, through the site."""

import pytest
from django.test import Client

from tests.support import factories as make
from tests.support.system import System


@pytest.mark.slow
def test_health_is_200_while_everything_answers(bare_system: System) -> None:
    bare_system.start("valkey")
    make.host(name="gpu-07")
    answer = Client().get("/healthz")
    body = answer.json()
    assert (answer.status_code, body["status"], answer["Cache-Control"]) == (200, "ok", "no-store")
    assert set(body) == {"status", "down", "database", "broker", "channel_layer", "workers", "engines"}
    assert [(worker["host"], worker["ok"]) for worker in body["workers"]] == [("gpu-07", True)]
    make.engine(name="e1", state="down")
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()["status"], answer.json()["down"]) == (200, "degraded", ["engine e1"])


def test_health_is_503_without_a_broker_and_says_no_address(transactional_db: None) -> None:
    make.engine(name="e1", url="http://secret-host:30000", reason="http://secret-host refused")
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.json()["status"]) == (503, "down")
    assert "secret-host" not in answer.content.decode()
    assert "valkey.sock" not in answer.content.decode()


def test_health_is_only_read(db: None) -> None:
    assert Client().post("/healthz").status_code == 405
