import json

import pytest
from django.contrib.auth.models import Permission

from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_trail_is_filtered_and_read_on() -> None:
    for number in range(5):
        make.audit("run.stop", f"run {number}", detail={"n": number})
    root = caller("root")
    root.user.user_permissions.add(Permission.objects.get(codename="view_auditentry"))
    first = root.get("/api/audit", verb="run", limit=3).json()
    assert [item["thing"] for item in first["items"]] == ["run 4", "run 3", "run 2"]
    rest = root.get("/api/audit", verb="run", limit=3, before=first["before"]).json()
    assert ([item["detail"] for item in rest["items"]], rest["before"]) == ([{"n": 1}, {"n": 0}], None)
    assert root.get("/api/audit", person="system", thing="run 3").json()["items"][0]["person"] is None
    assert root.get("/api/audit", since="2026-01-01T00:00:00").status_code == 422
    for moment in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):
        for path in ("/api/audit", "/api/audit/export"):
            assert [root.get(path, **{name: moment}).status_code for name in ("since", "until")] == [422, 422]


def test_roles_do_not_read_it() -> None:
    assert caller("ope", "operator").get("/api/audit").status_code == 403
    assert caller("ope", "operator").get("/api/audit/export").status_code == 403


def test_trail_is_exported_whole() -> None:
    for number in range(3):
        make.audit("run.stop", f"run {number}")
    root = caller("root")
    root.user.user_permissions.add(Permission.objects.get(codename="view_auditentry"))
    found = json.loads(root.get("/api/audit/export", verb="run.stop").getvalue())
    assert [entry["thing"] for entry in found] == ["run 2", "run 1", "run 0"]
    assert root.get("/api/audit/export", format="csv", thing="run 1").getvalue().decode().splitlines()[1].endswith("run 1,{}")
