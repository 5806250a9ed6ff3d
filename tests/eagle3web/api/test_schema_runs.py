"""Whatever the API's own description allows or forbids is answered below 500, with a status that the description has.

Schemathesis makes the requests out of openapi.json, in this process and seeded, so that a run fails every time or never.
"""

import json
from typing import Any

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import APIOperation, Case, GenerationMode
from schemathesis.core import NOT_SET
from schemathesis.core.result import Ok

from eagle3web.api import api
from eagle3web.domain.people import issue_token
from tests.support import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

runs = settings(
    derandomize=True,
    max_examples=6,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)
Operation = APIOperation[Any, Any, Any, Any]
SCHEMA = schemathesis.openapi.from_dict(json.loads(json.dumps(api.get_openapi_schema(), default=str)))
OPERATIONS: list[Operation] = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]
KNOWN = {"slug": "k2", "name": "e1"}
"""Path parameters that lead to a row; numbers are those of the first rows."""


@pytest.fixture
def program(rows: None) -> Client:
    """A superuser's token."""
    return Client(headers={"authorization": f"Bearer {issue_token(make.user(is_superuser=True), 'test')}"})


def known(path: str) -> dict[str, Any]:
    """Path parameters with which an operation finds a row."""
    names = [part[1:-1] for part in path.split("/") if part.startswith("{")]
    return {name: KNOWN.get(name, 1) for name in names}


def send(program: Client, case: Case[Any]) -> Any:  # noqa: ANN401  (a test response)
    raw = b"" if case.body is NOT_SET else case.body
    body = raw if isinstance(raw, bytes) else json.dumps(raw).encode("utf-8", "surrogatepass")
    query = {name: value for name, value in (case.query or {}).items() if value is not None}
    return program.generic(case.method, case.formatted_path, body, content_type="application/json", query_params=query)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda found: f"{found.method.upper()} {found.path}")
@runs
@given(values=st.data())
def test_requests_made_of_the_description_are_answered_as_it_says(
    program: Client, operation: Operation, values: st.DataObject
) -> None:
    mode = values.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
    found = (values.draw(st.booleans()) and known(operation.path)) or None
    case = values.draw(operation.as_strategy(mode, path_parameters=found))
    answer = send(program, case)
    told = (
        case.method,
        case.formatted_path,
        case.query,
        case.body,
        answer.status_code,
        b"" if answer.streaming else answer.content[:300],
    )
    assert answer.status_code < 500, told
    assert str(answer.status_code) in operation.definition.raw["responses"], told
