"""The demo's datasets from the command line."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from eagle3web.models import Dataset, DatasetRevision


@pytest.mark.slow
@pytest.mark.django_db
def test_eight_datasets_are_imported_and_a_second_time_changes_nothing(home: Path) -> None:
    stream = StringIO()
    call_command("import_demo", stdout=stream)
    first = list(DatasetRevision.objects.order_by("id").values_list("id", "revision"))
    assert len(stream.getvalue().splitlines()) == len(first) == 8
    assert [slug[:3] for slug in Dataset.objects.values_list("slug", flat=True)] == [f"B{i}_" for i in range(1, 9)]
    call_command("import_demo", stdout=StringIO())
    assert list(DatasetRevision.objects.order_by("id").values_list("id", "revision")) == first
