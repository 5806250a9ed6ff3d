"""Fragments: the parts of a page that change while somebody looks at it."""

from collections.abc import Mapping
from typing import Any

from django.template.loader import get_template


def render(templates: Mapping[str, str], context: Mapping[str, Any]) -> dict[str, str]:
    """Element id → HTML, for a page's fragments (id → template). Each template's outermost element carries the id."""
    return {key: get_template(name).render(dict(context)).strip() for key, name in templates.items()}
