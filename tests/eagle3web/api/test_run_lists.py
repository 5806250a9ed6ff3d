import json

import pytest

from eagle3web.enums import Role
from eagle3web.models import Run
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_several_runs_are_asked_to_stop_and_each_is_accounted_for() -> None:
    queued, live, ended = make.run(), make.run(), make.run(status="finished")
    make.attempt(live)
    answer = caller("ada", Role.OPERATOR).post("/api/runs/stop", {"runs": [queued.pk, live.pk, ended.pk, 999]})
    assert answer.json() == {"asked": [queued.pk, live.pk], "already": [], "ended": [ended.pk], "unknown": [999]}
    assert caller("bob", Role.VIEWER).post("/api/runs/stop", {"runs": [live.pk]}).status_code == 403
    assert caller("ada").post("/api/runs/stop", {"runs": []}).status_code == 422


def test_export_has_all_runs_that_the_filter_finds() -> None:
    project = make.project(slug="k2")
    runs = [make.run(project, tags=["night"], title=f"=run {n}") for n in range(3)]
    make.run(title="elsewhere", tags=["night"])
    api = caller("ada", Role.VIEWER)
    found = json.loads(b"".join(api.get("/api/runs/export", project="k2", tag="night", limit=1)))
    assert [row["run"] for row in found] == [run.pk for run in reversed(runs)]
    lines = b"".join(api.get("/api/runs/export", format="csv", project="k2")).decode().splitlines()
    assert (len(lines), ",'=run 2," in lines[1]) == (4, True)
    assert api.get("/api/runs/export", projekt="k2").status_code == 422


def test_runs_have_the_numbers_that_lists_sort_by() -> None:
    run = make.run(tokens=7, speedup=1.58)
    (row,) = caller("ada", Role.VIEWER).get("/api/runs").json()["items"]
    assert (row["id"], row["tokens"], row["speedup"], row["loss"]) == (run.pk, 7, 1.58, None)
    assert Run.objects.count() == 1
