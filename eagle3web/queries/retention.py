"""Rules of what may be thrown away, for the page that shows them."""

from collections.abc import Iterable

from eagle3web.models import RetentionPolicy, Run


def policies() -> list[RetentionPolicy]:
    """Those of all projects first. One query."""
    found = RetentionPolicy.objects.select_related("project").order_by("project__name", "pk")
    return sorted(found, key=lambda row: row.project is not None)


def runs_by_key(keys: Iterable[int]) -> dict[int, Run]:
    """One query."""
    rows = Run.objects.filter(pk__in=list(keys)).select_related("project").defer("config", "notes")
    return {row.pk: row for row in rows}
