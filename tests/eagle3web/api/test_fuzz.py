"""Whatever a program sends, the API answers below 500. Seeded, so that it fails every time or never."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from eagle3web.api import api
from tests.support import factories as make
from tests.support.api import Caller

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

fuzzed = settings(
    derandomize=True, max_examples=10, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

NASTY = ["", "\x00", "\ud800", "\u202e", "' OR 1=1 --", "../..", "{{7*7}}", "%s%n", "x" * 5000, "B1", "k2", "e1", "١٢", "NaN"]
TEXTS = st.sampled_from(NASTY) | st.text(max_size=8)
NUMBERS = st.integers() | st.sampled_from([-1, 0, 1, 2**31, 2**63, 10**40]) | st.floats()
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3), max_leaves=6
)

SOUND: dict[str, dict[str, Any]] = {
    "/api/projects": {"slug": "k3", "name": "K3", "target_model": "K3", "tokenizer": "/models/k3", "sampling": {"top_p": 1}},
    "/api/projects/{slug}/budgets": {"dataset": "B2", "tokens": 10, "sampling": {}},
    "/api/budgets/{budget_id}": {"version": 1, "tokens": 10, "sampling": {"seed": 1}},
    "/api/runs": {"project": "k2", "engines": ["e1"], "title": "x", "tags": ["a"]},
    "/api/pipelines": {"project": "k2", "engines": ["e1"], "preset": "cpu", "train": {"epochs": 1}, "benchmark": {"seed": 1}},
    "/api/engines": {"name": "e2", "url": "http://e2:30000"},
    "/api/datasets/import": {"slug": "B3", "path": "a.jsonl"},
    "/api/runs/{run_id}/concurrency": {"n": 1},
}
"""Bodies that are taken as they are: with one field made nasty, they get further in than nonsense does."""

Operation = tuple[str, str, list[str]]
"""Method, path with its placeholders, names of the body's or the query's fields."""


def operations(*methods: str) -> Iterator[Operation]:
    schema: dict[str, Any] = api.get_openapi_schema()
    for path, found in schema["paths"].items():
        for method in set(methods) & set(found):
            operation = found[method]
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            model = schema["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], {})
            query = [parameter["name"] for parameter in operation.get("parameters", []) if parameter["in"] == "query"]
            yield method, path, [*model.get("properties", {}), *query]


@pytest.fixture
def program(rows: None) -> Caller:
    """A superuser's token."""
    return Caller(make.user(is_superuser=True))


def fill(path: str, values: st.DataObject) -> str:
    """Put a row's key, or nonsense, in each placeholder."""
    known = {"{slug}": "k2", "{name}": "e1"}
    for part in path.split("/"):
        if part.startswith("{"):
            nonsense = st.sampled_from(["0", "-1", "99", "x", "9" * 30, "%00", "%ff", "é"])
            path = path.replace(part, values.draw(st.just(known.get(part, "1")) | nonsense), 1)
    return path


@pytest.mark.parametrize("operation", list(operations("post", "patch")), ids=lambda found: f"{found[0]} {found[1]}")
@fuzzed
@given(values=st.data())
def test_random_bodies_are_answered_below_500(program: Caller, operation: Operation, values: st.DataObject) -> None:
    method, path, fields = operation
    names = st.sampled_from(fields) if fields else TEXTS
    changes = st.dictionaries(names, VALUES, max_size=2)
    body = values.draw(changes.map(lambda found: SOUND.get(path, {}) | found) | VALUES)
    answer = getattr(program, method)(fill(path, values), json.dumps(body))
    assert answer.status_code < 500, (path, body, answer.content)


@pytest.mark.parametrize("operation", list(operations("get")), ids=lambda found: found[1])
@fuzzed
@given(values=st.data())
def test_random_queries_are_answered_below_500(program: Caller, operation: Operation, values: st.DataObject) -> None:
    _method, path, fields = operation
    texts = TEXTS.filter(lambda text: "\ud800" not in text) | NUMBERS.map(str)
    query = values.draw(st.dictionaries(st.sampled_from(fields) if fields else texts, texts, max_size=4))
    answer = program.get(fill(path, values), **query)
    assert answer.status_code < 500, (path, query, answer.content)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff\xfe", b'"\\ud800"', b"[" * 100_000, b"1" * 10_000, b'{"a":' * 5_000, b"null", b"x" * 3_000_000]
)
@pytest.mark.parametrize("path", ["/api/runs", "/api/projects", "/api/datasets/import"])
def test_bodies_that_are_no_json_are_answered_below_500(program: Caller, path: str, body: bytes) -> None:
    answer = program.post(path, body)
    assert 400 <= answer.status_code < 500
    assert answer.json()["detail"]
