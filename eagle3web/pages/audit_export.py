"""The audit trail as a file: CSV for spreadsheets, JSON for programs, made in pieces so that any number of entries fits."""

import json
from collections.abc import Iterator

from django.db.models import QuerySet

from eagle3web import spreadsheets
from eagle3web.models import AuditEntry
from eagle3web.queries.audit import walk
from eagle3web.streams import json_array

FIELDS = ("id", "at", "person", "verb", "thing", "detail")


def as_csv(entries: QuerySet[AuditEntry]) -> Iterator[bytes]:
    """With a header line; the detail is JSON. Text that a spreadsheet would take for a formula gets an apostrophe before it."""
    rows = ([*values[:-1], json.dumps(values[-1], ensure_ascii=False)] for values in map(_values, walk(entries)))
    return spreadsheets.file(FIELDS, rows)


def as_json(entries: QuerySet[AuditEntry]) -> Iterator[bytes]:
    """One array, an object a line."""
    return json_array(dict(zip(FIELDS, _values(entry), strict=True)) for entry in walk(entries))


def _values(entry: AuditEntry) -> tuple[object, ...]:
    """In the order of FIELDS; a person who is None stands for the system."""
    person = entry.user.username if entry.user else None
    return entry.pk, entry.at.isoformat(), person, entry.verb, entry.target, entry.detail
