"""Rules, what they would remove, and removing it, as people do it."""

from pathlib import Path

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain import pruning
from eagle3web.enums import Prunable, Stage
from eagle3web.models import AuditEntry, LogChunk, Project, Pruned, RetentionPolicy
from tests.eagle3web.views.conftest import client_of
from tests.support import factories as make

pytestmark = pytest.mark.django_db
RULE = {"days": "60", "keep_last": "2", "enabled": "on"}


@pytest.fixture
def admin(db: None) -> Client:
    return client_of("view_run", "change_retentionpolicy")


@pytest.fixture
def project(home: Path) -> Project:
    project = make.project(slug="k2", name=make.HOSTILE.replace("\x00", ""))
    run = make.run(project)
    for _ in range(2):
        make.log(make.old_attempt(run), "x" * 2000)
    return project


def test_page_says_that_nothing_is_removed_while_no_rule_is_on(viewer: Client, project: Project) -> None:
    make.policy(Prunable.LOGS, enabled=False)
    html = viewer.get("/retention/").content.decode()
    assert "Nothing is ever removed" in html
    assert ("retention/preview" in html, "Remove now" in html, ">Change<" in html) == (False, False, False)


def test_page_shows_rules_of_all_projects_and_own_ones_in_few_queries(
    admin: Client, project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    make.policy(Prunable.LOGS)
    for _ in range(5):
        make.policy(Prunable.LOGS, make.project(), enabled=False)
    with django_assert_max_num_queries(20):
        html = admin.get("/retention/").content.decode()
    assert (html.count("off: all is kept"), "Remove now" in html, "<script>alert" in html) == (5, True, False)


def test_preview_names_runs_and_bytes_and_removes_nothing(viewer: Client, project: Project) -> None:
    make.policy(Prunable.LOGS)
    html = viewer.get("/retention/preview/").content.decode()
    assert f"r{project.runs.get().pk} generate" in html
    assert "2.0\u00a0kB" in html
    assert (LogChunk.objects.count(), Pruned.objects.count()) == (2, 0)


@pytest.mark.parametrize("place", ["/retention/rules/logs/", "/retention/prune/", "/retention/own/{}/drop/"])
def test_whoever_may_only_look_or_operate_changes_nothing(operator: Client, project: Project, place: str) -> None:
    place = place.format(make.policy(Prunable.LOGS, project).pk)
    assert (operator.get(place).status_code, operator.post(place, RULE).status_code) == (403, 403)
    assert (RetentionPolicy.objects.get().days, Pruned.objects.count()) == (30, 0)


@pytest.mark.parametrize("place", ["/retention/", "/retention/preview/"])
def test_looking_takes_no_post(admin: Client, place: str) -> None:
    assert admin.post(place).status_code == 405


def test_a_rule_is_made_and_changed(admin: Client, project: Project) -> None:
    assert admin.get("/retention/rules/shards/").status_code == 200
    assert admin.post("/retention/rules/shards/", RULE).headers["Location"] == "/retention/"
    admin.post("/retention/rules/shards/?project=k2", RULE | {"enabled": ""})
    rules = RetentionPolicy.objects.order_by("pk").values_list("kind", "project__slug", "days", "keep_last", "enabled")
    assert list(rules) == [("shards", None, 60, 2, True), ("shards", "k2", 60, 2, False)]
    assert list(AuditEntry.objects.values_list("verb", flat=True)) == ["retention.change"] * 2


@pytest.mark.parametrize("wrong", [{"days": "0"}, {"days": "x"}, {"keep_last": "-1"}, {"days": "9" * 30}])
def test_impossible_rules_are_refused_by_field(admin: Client, db: None, wrong: dict[str, str]) -> None:
    answer = admin.post("/retention/rules/logs/", RULE | wrong)
    assert (answer.status_code, "aria-invalid" in answer.content.decode()) == (422, True)
    assert not RetentionPolicy.objects.exists()


@pytest.mark.parametrize("place", ["/retention/rules/nope/", "/retention/rules/logs/?project=nope", "/retention/own/9/drop/"])
def test_what_is_not_there_is_not_found(admin: Client, db: None, place: str) -> None:
    assert admin.get(place).status_code == 404


def test_the_rule_of_all_projects_cannot_be_forgotten(admin: Client, project: Project) -> None:
    own, shared = make.policy(Prunable.LOGS, project), make.policy(Prunable.LOGS)
    assert admin.post(f"/retention/own/{shared.pk}/drop/").status_code == 404
    assert "applies from then on" in admin.get(f"/retention/own/{own.pk}/drop/").content.decode()
    admin.post(f"/retention/own/{own.pk}/drop/")
    assert list(RetentionPolicy.objects.all()) == [shared]


def test_removing_asks_with_numbers_and_then_gives_up_what_it_named(admin: Client, project: Project) -> None:
    make.policy(Prunable.LOGS)
    assert "Remove 1 thing, 2.0" in admin.get("/retention/prune/").content.decode()
    answer = admin.post("/retention/prune/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (204, "/retention/")
    row = Pruned.objects.get()
    assert row.author is not None
    html = admin.get("/retention/").content.decode()
    assert ("Some files are given up and still there" in html, "1 thing is being removed" in html) == (True, True)
    pruning.remove()
    assert "Some files are given up" not in admin.get("/retention/").content.decode()


def test_the_run_s_page_says_what_was_pruned_and_still_opens(admin: Client, project: Project) -> None:
    for kind in Prunable:
        make.policy(kind, keep_last=0)
    run = project.runs.get()
    first = run.attempts.get(number=1)
    make.event(first, "warning", text="x")
    admin.post("/retention/prune/")
    pruning.remove()
    html = admin.get(f"/runs/{run.pk}/attempts/1/").content.decode()
    assert "logs go after 30 days" in html
    assert "This log was pruned, " in html
    assert "The events were pruned, " in html
    answer = admin.get(f"/runs/{run.pk}/attempts/1/log.txt")
    assert (answer.status_code, b"This log was pruned on" in answer.content) == (410, True)
    assert admin.get(f"/runs/{run.pk}/attempts/1/log/?q=x").json() == {"lines": [], "total": 0}


def test_lineage_and_checkpoint_say_that_their_bytes_are_gone(admin: Client, project: Project) -> None:
    for kind in (Prunable.SHARDS, Prunable.CHECKPOINTS):
        make.policy(kind, keep_last=0)
    extract = make.run(project, stage=Stage.EXTRACT)
    make.old_attempt(extract, counters={"extraction_progress": {"bytes": 10, "documents": 1}})
    train = make.run(project, stage=Stage.TRAIN)
    make.run_input(train, extract, kind="hidden")
    attempt = make.old_attempt(train)
    row = make.checkpoint(attempt, saved_at=attempt.ended_at)
    pruning.prune(project, user=None)
    html = admin.get(f"/checkpoints/{row.pk}/").content.decode()
    assert "These files were pruned on" in html
    assert "states pruned" in html
    assert "hidden states pruned on" in html
    assert f"r{extract.pk} extract" in html
    assert "removed" not in admin.get(f"/runs/{train.pk}/").context["lineage"].nodes[-1].words
