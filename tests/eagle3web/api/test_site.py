"""Documentation without a CDN, for signed-in people."""

import re

import pytest
from django.test import Client

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


def test_unknown_address_is_refused() -> None:
    client = Client()
    client.force_login(make.user())
    assert client.get("/api/nothing").status_code == 404
