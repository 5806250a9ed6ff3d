"""Hosts over the API."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.enums import Role
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_host_is_shown_with_who_holds_its_devices() -> None:
    make.host(name="gpu-07")
    attempt = make.attempt(host="gpu-07")
    attempt.leases.create(host="gpu-07", device="cuda:0")
    api = caller("ada", Role.VIEWER)
    assert [host["name"] for host in api.get("/api/hosts").json()["items"]] == ["gpu-07"]
    (lease,) = api.get("/api/hosts/gpu-07").json()["leases"]
    assert (lease["device"], lease["run"], lease["attempt"]) == ("cuda:0", attempt.run_id, attempt.pk)
    assert api.get("/api/hosts/none").status_code == 404


def test_samples_go_back_as_far_as_asked() -> None:
    host, engine, now = make.host(name="gpu-07"), make.engine(name="e1"), timezone.now()
    for age in (7200, 60):
        make.host_sample(host, at=now - timedelta(seconds=age), cpu_percent=age / 100)
        make.engine_sample(engine, at=now - timedelta(seconds=age), tokens_per_s=age)
    api = caller("ada", Role.VIEWER)
    assert [sample["cpu_percent"] for sample in api.get("/api/hosts/gpu-07/samples").json()] == [0.6]
    assert len(api.get("/api/hosts/gpu-07/samples?seconds=86400").json()) == 2
    assert [sample["tokens_per_s"] for sample in api.get("/api/engines/e1/samples").json()] == [60]
    assert api.get("/api/hosts/gpu-07/samples?seconds=0").status_code == 422


def test_drain_is_for_operators_and_once_is_enough() -> None:
    make.host(name="gpu-07", tags=["h200"])
    assert caller("eve", Role.VIEWER).post("/api/hosts/gpu-07/drain", {}).status_code == 403
    ada = caller("ada", Role.OPERATOR)
    drained = ada.post("/api/hosts/gpu-07/drain", {"reason": "new driver"}).json()
    assert (drained["drain_reason"], drained["drained_at"] is None, drained["tags"]) == ("new driver", False, ["h200"])
    assert ada.post("/api/hosts/gpu-07/drain", {"reason": "again"}).json()["drain_reason"] == "new driver"
    assert ada.post("/api/hosts/gpu-07/undrain").json()["drained_at"] is None
    assert ada.get("/api/hosts/gpu-07/drain").status_code == 405
    assert ada.post("/api/hosts/none/drain", {}).status_code == 404
