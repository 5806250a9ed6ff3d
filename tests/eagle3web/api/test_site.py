"""Documentation without a CDN, for signed-in people."""

import json
import re
from typing import Any

import pytest
from django.test import Client, RequestFactory

from eagle3web.api import api
from eagle3web.api.site import failed
from eagle3web.enums import Role
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


def test_openapi_describes_every_operation_for_token_holders() -> None:
    schema = caller("ada", Role.VIEWER).get("/api/openapi.json").json()
    operations = [(path, method) for path, methods in schema["paths"].items() for method in methods]
    assert ("/api/budgets/{budget_id}", "patch") in operations
    assert set(schema["components"]["securitySchemes"]) == {"TokenAuth", "SessionAuth"}
    fields = schema["components"]["schemas"]["BudgetOut"]["properties"]
    assert fields["tokens"]["description"] == "Completion tokens to reach; null means all prompts."


@pytest.mark.parametrize("page", ["/api/openapi.json", "/api/docs"])
def test_documentation_is_not_public(page: str) -> None:
    assert Client().get(page).status_code == 401


def test_docs_page_loads_from_this_host_only_and_fits_the_policy() -> None:
    client = Client()
    client.force_login(make.user())
    answer = client.get("/api/docs")
    html = answer.content.decode()
    assert answer.status_code == 200
    assert re.findall(r"(?:src|href)=\"(?!/static/)([^\"]*)", html) == []
    assert not re.search(r"<script(?![^>]*\b(?:src=|type=\"application/json\"))|<style|\sstyle=", html)


@pytest.mark.parametrize("signed_in", [True, False])
def test_unknown_address_is_refused_in_json(signed_in: bool) -> None:
    client = Client()
    if signed_in:
        client.force_login(make.user())
    answer = client.get("/api/nothing")
    detail = "There is nothing at this address; /api/openapi.json lists what there is."
    assert (answer.status_code, answer.json()) == (404, {"detail": detail})


def test_unknown_page_is_refused_as_a_page() -> None:
    client = Client()
    client.force_login(make.user())
    answer = client.get("/nothing")
    assert (answer.status_code, answer["Content-Type"]) == (404, "text/html; charset=utf-8")


@pytest.mark.parametrize(("path", "allowed"), [("/api/runs", "GET, POST"), ("/api/openapi.json", "GET, HEAD")])
def test_wrong_method_is_refused_in_json(path: str, allowed: str) -> None:
    client = Client()
    client.force_login(make.user(is_superuser=True))
    answer = client.delete(path)
    assert (answer.status_code, answer["Allow"]) == (405, allowed)
    assert answer.json() == {"detail": f"DELETE is not allowed here; allowed: {allowed}."}


def test_openapi_lists_the_failures_of_every_operation() -> None:
    schema: Any = api.get_openapi_schema()
    of_list, of_change = schema["paths"]["/api/runs"]["get"], schema["paths"]["/api/projects/{slug}"]["patch"]
    assert sorted(map(int, of_list["responses"])) == [200, 401, 403, 422, 429, 503]
    assert sorted(map(int, of_change["responses"])) == [200, 400, 401, 403, 404, 409, 413, 422, 429, 503]
    assert schema["components"]["schemas"]["Problem"]["required"] == ["detail"]


def test_empty_body_is_told_which_fields_are_missing() -> None:
    answer = caller("ada", Role.OPERATOR).post("/api/engines", b"")
    assert answer.status_code == 422
    assert [(found["field"], found["message"]) for found in answer.json()["errors"]] == [
        ("name", "Field required"),
        ("url", "Field required"),
    ]


def test_a_defect_is_told_in_json_to_programs_and_as_a_page_to_people(rf: RequestFactory) -> None:
    answer = failed(rf.get("/api/runs"))
    assert (answer.status_code, answer["Content-Type"]) == (500, "application/json")
    assert json.loads(answer.content)["detail"].startswith("An error of ours")
    page = failed(rf.get("/runs/1/"))
    assert (page.status_code, b"<h1>An error of ours</h1>" in page.content) == (500, True)
