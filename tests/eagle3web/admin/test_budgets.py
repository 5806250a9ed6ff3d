"""Budgets in the admin's list: what two people at once, slips and wrong roles meet."""

import re
from collections.abc import Iterator

import pytest
from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from eagle3web.enums import Role
from eagle3web.models import AuditEntry, TokenBudget
from tests.support import factories as make

pytestmark = pytest.mark.django_db

LIST = reverse("admin:eagle3web_tokenbudget_changelist")


def client_of(name: str, *roles: Role) -> Client:
    client = Client()
    client.force_login(make.user(name, groups=roles, is_staff=True))
    return client


@pytest.fixture
def ada() -> Client:
    return client_of("ada", Role.BUDGET_ADMIN)


@pytest.fixture
def ben() -> Client:
    return client_of("ben", Role.BUDGET_ADMIN)


def open_list(client: Client) -> dict[str, str]:
    """The list's form as a browser would send it back."""
    html = client.get(LIST).content.decode()
    return dict(_inputs(html[html.index('id="changelist-form"') :]))


def _inputs(html: str) -> Iterator[tuple[str, str]]:
    for tag in re.findall(r"<input[^>]*>", html):
        found = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        kind, name = found.get("type"), found.get("name")
        if name and (kind in ("text", "hidden", "number") or (kind == "checkbox" and " checked" in tag)):
            yield name, found.get("value", "on" if kind == "checkbox" else "")


def save(client: Client, form: dict[str, str]) -> list[str]:
    """Send the form; the messages that follow."""
    response = client.post(LIST, form | {"_save": "Save"})
    assert response.status_code == 302, response.content.decode()
    return [str(message) for message in get_messages(response.wsgi_request)]


def row(form: dict[str, str], budget: TokenBudget) -> str:
    """Prefix of the budget's row in the form."""
    return next(name for name, value in form.items() if name.endswith("-id") and value == str(budget.pk))[: -len("-id")]


def test_edit_in_the_list_is_saved_with_version_history_and_author(ada: Client) -> None:
    budget = make.budget(tokens=10_000_000)
    form = open_list(ada)
    form[f"{row(form, budget)}-tokens"] = "12.5 M"
    assert save(ada, form) == ["1 budget changed. A live run hears of it at once."]
    assert list(TokenBudget.objects.values_list("tokens", "version")) == [(12_500_000, 2)]
    assert str(budget.history.latest().history_user) == "ada"
    assert AuditEntry.objects.get().detail["changes"] == {"tokens": [10_000_000, 12_500_000]}


def test_list_that_nobody_edited_saves_nothing(ada: Client) -> None:
    make.budget()
    assert save(ada, open_list(ada)) == []
    assert AuditEntry.objects.count() == 0


def test_budget_can_be_emptied_and_switched_off(ada: Client) -> None:
    budget = make.budget(tokens=10_000_000)
    form = open_list(ada)
    form[f"{row(form, budget)}-tokens"] = ""
    del form[f"{row(form, budget)}-enabled"]
    save(ada, form)
    assert list(TokenBudget.objects.values_list("tokens", "enabled", "version")) == [(None, False, 2)]


def test_second_editor_meets_a_conflict_and_overwrites_nothing(ada: Client, ben: Client) -> None:
    first, second = make.budget(tokens=10_000_000, to=make.dataset(slug="B1_glaive")), make.budget(tokens=20_000_000)
    hers, his = open_list(ada), open_list(ben)
    hers[f"{row(hers, first)}-tokens"] = "5 M"
    save(ada, hers)
    his[f"{row(his, first)}-tokens"] = "8 M"
    his[f"{row(his, second)}-tokens"] = "21 M"
    conflict, saved = sorted(save(ben, his), reverse=True)
    assert re.fullmatch(
        r"B1_glaive: ada changed this budget at \d\d:\d\d:\d\d UTC, while you were editing it\. It is now version 2: "
        r"tokens 5 000 000, max samples without limit, position \d+, on\. Your tokens 8 000 000 was not saved\.",
        conflict,
    )
    assert saved == "1 budget changed. A live run hears of it at once."
    assert dict(TokenBudget.objects.values_list("pk", "tokens")) == {first.pk: 5_000_000, second.pk: 21_000_000}


def test_row_that_only_the_other_one_edited_is_left_alone(ada: Client, ben: Client) -> None:
    first, second = make.budget(tokens=10_000_000), make.budget(tokens=20_000_000)
    hers, his = open_list(ada), open_list(ben)
    hers[f"{row(hers, first)}-tokens"] = "5 M"
    save(ada, hers)
    his[f"{row(his, second)}-tokens"] = "21 M"
    assert save(ben, his) == ["1 budget changed. A live run hears of it at once."]
    assert dict(TokenBudget.objects.values_list("pk", "tokens")) == {first.pk: 5_000_000, second.pk: 21_000_000}


def test_slip_is_refused_and_what_was_typed_stays(ada: Client) -> None:
    budget = make.budget(tokens=10_000_000)
    form = open_list(ada)
    form[f"{row(form, budget)}-tokens"] = "2o48"
    response = ada.post(LIST, form | {"_save": "Save"})
    html = response.content.decode()
    assert response.status_code == 200
    assert "“2o48” is not a number: write 10 M, 2.5 k or 10 000 000." in html
    assert 'value="2o48"' in html
    assert TokenBudget.objects.get().version == 1


def test_version_that_was_tampered_with_is_no_way_around(ada: Client) -> None:
    budget = make.budget(tokens=10_000_000)
    form = open_list(ada)
    form |= {f"{row(form, budget)}-tokens": "5 M", f"{row(form, budget)}-version": "99"}
    assert "was not saved" in save(ada, form)[-1]
    form[f"{row(form, budget)}-version"] = ""
    assert "was not saved" in save(ada, form)[-1]
    assert TokenBudget.objects.get().tokens == 10_000_000


def test_list_shows_requested_and_acknowledged_versions_and_the_run(ada: Client) -> None:
    budget = make.budget(to=make.dataset(slug="B1_glaive"), version=4)
    live = make.attempt(make.run(budget.project))
    make.progress(live, dataset="B1_glaive", budget_version=3)
    html = ada.get(LIST).content.decode()
    assert f"run {live.run_id} uses v3; v4 is requested" in html


def test_list_names_a_run_that_has_not_said_anything_yet(ada: Client) -> None:
    run = make.run(make.budget().project)
    assert f"run {run.pk} is using this budget" in ada.get(LIST).content.decode()


def test_single_form_saves_and_meets_conflicts(ada: Client, ben: Client) -> None:
    budget = make.budget(tokens=10_000_000)
    page = reverse("admin:eagle3web_tokenbudget_change", args=[budget.pk])
    his = dict(_inputs(ben.get(page).content.decode())) | {"sampling": "{}", "initial-sampling": "{}"}
    hers = his | {"tokens": "7 M", "sampling": '{"temperature": 0.7}', "initial-sampling": "{}"}
    assert ada.post(page, hers).status_code == 302
    changed = TokenBudget.objects.get()
    assert (changed.tokens, changed.sampling, changed.version) == (7_000_000, {"temperature": 0.7}, 2)
    response = ben.post(page, his | {"tokens": "9 M"})
    assert "ada changed this budget" in str(next(iter(get_messages(response.wsgi_request))))
    assert TokenBudget.objects.get().tokens == 7_000_000


def test_new_budget_goes_through_the_domain(ada: Client) -> None:
    project, dataset = make.project(), make.dataset()
    fields = {"project": project.pk, "dataset": dataset.pk, "tokens": "10 M", "position": 3, "enabled": "on", "sampling": "{}"}
    response = ada.post(reverse("admin:eagle3web_tokenbudget_add"), fields)
    assert response.status_code == 302, response.content.decode()
    budget = TokenBudget.objects.get()
    assert (budget.tokens, budget.position, str(budget.history.get().history_user)) == (10_000_000, 3, "ada")


def test_history_shows_who_when_and_old_to_new(ada: Client) -> None:
    budget = make.budget(tokens=10_000_000)
    form = open_list(ada)
    form[f"{row(form, budget)}-tokens"] = "5 M"
    save(ada, form)
    page = reverse("admin:eagle3web_tokenbudget_history", args=[budget.pk])
    html = ada.get(page).content.decode()
    assert "ada" in html
    assert re.search(r"<strong>Tokens</strong> 10000000 → 5000000", html)
    assert "revert" not in html
    assert ada.post(f"{page}{budget.history.latest().pk}/").status_code in (302, 404)
    assert TokenBudget.objects.get().version == 2


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_other_roles_look_and_do_not_edit(role: Role) -> None:
    client = client_of("eve", role)
    budget = make.budget(tokens=10_000_000)
    assert client.get(LIST).status_code == 200
    assert open_list(client).get("form-0-tokens") is None
    form = {"form-TOTAL_FORMS": "1", "form-INITIAL_FORMS": "1", "form-0-id": str(budget.pk), "form-0-tokens": "1"}
    assert client.post(LIST, form | {"_save": "Save"}).status_code == 403
    assert TokenBudget.objects.get().tokens == 10_000_000
