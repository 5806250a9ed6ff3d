"""Every table opens in the admin under a strict content security policy, and system-owned ones take no edits."""

import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from eagle3web.enums import Prunable, Role
from eagle3web.models import AuditEntry, Checkpoint, Dataset, Engine, Lease
from tests.support import factories as make

pytestmark = pytest.mark.django_db

EDITED = {"tokenbudget", "project", "dataset", "engine", "user", "apitoken"}
"""Models of which people edit something; all others are the system's."""
MODELS = [model for model in apps.get_app_config("eagle3web").get_models() if not model.__name__.startswith("Historical")]


@pytest.fixture
def root() -> Client:
    client = Client()
    client.force_login(make.user("root", is_staff=True, is_superuser=True))
    return client


@pytest.fixture
def rows() -> None:
    """One row of everything, with hostile text where the system takes text, as it is stored: without NUL."""
    hostile = make.HOSTILE.replace("\x00", "")
    budget, engine = make.budget(), make.engine(reason=hostile)
    make.revision(budget.dataset, error=hostile, report={"rejections": [{"reason": hostile}]})
    attempt = make.attempt(make.run(budget.project, title=hostile), reason=hostile)
    make.run_input(attempt.run, ref={hostile: "a"})
    make.policy(Prunable.LOGS)
    make.pruned(Prunable.LOGS, attempt.run, attempt=attempt)
    make.progress(attempt)
    make.event(attempt, "warning", text=hostile)
    make.log(attempt, hostile)
    make.point(attempt, "loss", 1.0)
    make.transition(attempt.run, "queued", "running", reason=hostile)
    make.control(attempt, "pause")
    make.audit("run.stop", hostile, detail={"text": hostile})
    make.checkpoint(attempt, card=hostile, manifest={"note": hostile})
    make.result(attempt, "plain", dataset=hostile[:80])
    make.answer(attempt, pieces=[hostile], depths=[1], prompt=hostile)
    make.host_sample(make.host())
    make.engine_sample(engine)
    stored = make.stored_answer(budget.project, prompt=hostile, text=hostile, error=hostile, key="k")
    make.answer_file(budget.project)
    make.flag(stored, reason=hostile)
    person = make.user()
    make.comment(attempt.run, hostile)
    make.review(Checkpoint.objects.get(), note=hostile)
    make.star(person, attempt.run)
    make.saved_view(budget.project, person, name=hostile[:80])
    make.notification(make.channel(person, last_error=hostile), subject=hostile[:200], error=hostile)
    Lease.objects.create(host="gpu-07", device="cpu", attempt=attempt)
    make.user().api_tokens.create(name=hostile[:100], digest="0" * 64, prefix="e3_abcde")
    assert engine.pk


def address(model: type[Model], what: str, *args: Any) -> str:
    return reverse(f"admin:eagle3web_{model._meta.model_name}_{what}", args=args)


def assert_strict(html: str) -> None:
    """Nothing that `script-src 'self'; style-src 'self'` would block, and nothing of the hostile text as markup."""
    assert not re.search(r"<script(?![^>]*\b(src=|type=\"application/json\"))", html)
    assert not re.search(r"<style|<[^>]+\sstyle=|<[^>]+\son[a-z]+=|javascript:", html)
    assert "<b>bold" not in html


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_every_table_is_registered_and_opens(model: type[Model], root: Client, rows: None) -> None:
    options = admin.site.get_model_admin(model)
    assert options.list_display != ("__str__",)
    pages = [address(model, "changelist"), address(model, "changelist") + "?q=1"]
    row = model._default_manager.first()
    assert row is not None
    pages += [address(model, "change", row.pk), address(model, "history", row.pk)]
    for page in pages:
        response = root.get(page)
        assert response.status_code == 200, page
        assert_strict(response.content.decode())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
def test_system_owned_tables_take_no_edits_even_from_a_superuser(model: type[Model], root: Client, rows: None) -> None:
    if model._meta.model_name in EDITED:
        return
    row = model._default_manager.first()
    assert row is not None
    assert root.post(address(model, "add"), {}).status_code == 403
    assert root.post(address(model, "change", row.pk), {}).status_code == 403
    assert root.post(address(model, "delete", row.pk), {"post": "yes"}).status_code == 403
    assert model._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize("page", ["admin:index", "admin:eagle3web_tokenbudget_add", "admin:eagle3web_project_add"])
def test_other_pages_are_strict_too(page: str, root: Client) -> None:
    response = root.get(reverse(page))
    assert response.status_code == 200
    assert "script-src 'self'" in response["Content-Security-Policy"]
    assert_strict(response.content.decode())


def test_operator_registers_an_engine_and_the_system_says_how_it_is() -> None:
    client = Client()
    client.force_login(make.user("ope", groups=(Role.OPERATOR,), is_staff=True))
    fields = {"name": "sglang-1", "url": "http://10.0.0.7:30000", "protocol": "sglang", "enabled": "on", "state": "healthy"}
    response = client.post(reverse("admin:eagle3web_engine_add"), fields)
    assert response.status_code == 302, response.content.decode()
    assert Engine.objects.get().state == "unknown"
    assert AuditEntry.objects.get().verb == "engine.register"


def test_adding_a_dataset_leads_to_the_import(root: Client) -> None:
    response = root.get(reverse("admin:eagle3web_dataset_add"))
    assert (response.status_code, response["Location"]) == (302, reverse("dataset-import"))


def test_description_of_a_dataset_is_edited_with_a_trace(root: Client) -> None:
    dataset = make.dataset(licence="")
    response = root.post(address(Dataset, "change", dataset.pk), {"licence": "MIT", "slug": "moved"})
    assert response.status_code == 302
    assert list(Dataset.objects.values_list("licence", "slug")) == [("MIT", dataset.slug)]
    assert AuditEntry.objects.get().detail == {"slug": dataset.slug, "fields": ["licence"]}


@pytest.mark.parametrize(
    "query", ["id={}", "pk__in={}", "created_at__year={}", "run={}", "q={}", "p={}", "o={}", "project__id__exact={}", "id=%00"]
)
def test_numbers_that_no_column_holds_find_nothing_and_break_nothing(root: Client, rows: None, query: str) -> None:
    for number in (10**30, -(10**30), 2**63):
        assert root.get(f"/admin/eagle3web/run/?{query.format(number)}").status_code < 500
        assert root.get(f"/admin/eagle3web/comment/?{query.format(number)}").status_code < 500
    assert root.get(f"/admin/eagle3web/tokenbudget/add/?project={10**30}").status_code < 500
