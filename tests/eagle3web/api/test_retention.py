"""Retention, for programs."""

import pytest

from eagle3web.enums import Prunable
from eagle3web.models import Pruned
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_rules_preview_and_what_went_are_told() -> None:
    program = caller("ada", "viewer")
    project = make.project(slug="k2")
    make.policy(Prunable.LOGS)
    make.policy(Prunable.LOGS, project, days=7, keep_last=3)
    run = make.run(project)
    for _ in range(4):
        make.log(make.old_attempt(run), "x" * 10)
    assert program.get("/api/retention/rules").json() == [
        {"kind": "logs", "project": None, "enabled": True, "days": 30, "keep_last": 1},
        {"kind": "logs", "project": "k2", "enabled": True, "days": 7, "keep_last": 3},
    ]
    line = {"run": run.pk, "kind": "logs", "things": 1, "count": 0, "bytes": 10}
    assert program.get("/api/retention/preview").json() == {"things": 1, "bytes": 10, "lines": [line], "more": 0}
    assert not Pruned.objects.exists()
    make.pruned(Prunable.LOGS, run, attempt=run.attempts.get(number=1))
    found = program.get("/api/retention/pruned", run=run.pk).json()
    assert (found["count"], found["items"][0]["attempt"], found["items"][0]["removed_at"]) == (1, 1, None)
    assert program.get("/api/retention/pruned", run=run.pk + 1).json()["count"] == 0


def test_strangers_are_told_nothing() -> None:
    for path in ("rules", "preview", "pruned"):
        assert caller().get(f"/api/retention/{path}").status_code == 403
