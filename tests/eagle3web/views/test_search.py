"""The list in the palette."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from tests.support import factories

pytestmark = pytest.mark.django_db


def test_options_are_named_and_lead_somewhere(viewer: Client) -> None:
    factories.dataset(slug="B3_math", title="Sums")
    html = viewer.get("/search/", {"q": "math"}).content.decode()
    assert '<div class="hit" role="option" id="hit-1-1" data-href="/datasets/B3_math/" aria-selected="false">' in html
    assert "Sums" in html


def test_hostile_text_is_text(viewer: Client) -> None:
    factories.run(title=factories.HOSTILE.replace("\x00", ""))
    html = viewer.get("/search/", {"q": "script"}).content.decode()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html


def test_search_costs_few_queries(operator: Client, django_assert_max_num_queries: Callable[..., Any]) -> None:
    for n in range(20):
        factories.attempt(factories.run(title=f"needle {n}", stage="benchmark"))
    with django_assert_max_num_queries(16):
        assert operator.get("/search/", {"q": "needle"}).status_code == 200


def test_odd_questions_are_answered(viewer: Client) -> None:
    for typed in ("\x00", "x" * 5000, "9" * 40, "   ", "%"):
        assert viewer.get("/search/", {"q": typed}).status_code == 200
