"""What a host's page says."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.models import Lease
from eagle3web.pages.hosts import HostPage, title
from eagle3web.queries.machines import SPANS
from tests.support import factories

pytestmark = pytest.mark.django_db
LOOKER = frozenset({"view_run"})


def test_gpu_names_the_run_that_holds_it() -> None:
    gpu = {"index": 1, "name": "H200", "utilisation_percent": 90, "memory_used": 30, "memory_total": 120}
    host = factories.host(name="gpu-07", sample={"gpus": [{"index": 0}, gpu]})
    attempt = factories.attempt(host="gpu-07")
    Lease.objects.create(host="gpu-07", device="cuda:1", attempt=attempt)
    html = HostPage(host.pk, LOOKER).read(timezone.now()).fragments["host-work"]
    assert f'<a class="mono" href="/runs/{attempt.run_id}/attempts/1/">r{attempt.run_id}</a>' in html
    assert "nobody" in html
    assert "25 %" not in html
    assert "cuda:1" in html


def test_host_that_is_not_heard_says_so_by_the_clock_alone() -> None:
    heard_at = timezone.now() - timedelta(seconds=20)
    host = factories.host(seen_at=heard_at)
    reading = HostPage(host.pk, LOOKER).read(timezone.now())
    assert "not heard" not in reading.fragments["host-head"]
    assert reading.look_again == heard_at + timedelta(seconds=30)
    host.seen_at = timezone.now() - timedelta(seconds=31)
    host.save()
    reading = HostPage(host.pk, LOOKER).read(timezone.now())
    assert "not heard" in reading.fragments["host-head"]
    assert (reading.title, reading.look_again) == (f"not heard · {host.name}", None)


def test_low_disk_is_warned_of() -> None:
    host = factories.host(name="gpu-07", sample={"disk_free": 5, "disk_total": 100})
    page = HostPage(host.pk, LOOKER)
    assert title(page.context()["shown"]) == "disk low · gpu-07"
    assert "delete old runs or hidden states" in page.read(timezone.now()).fragments["host-stats"]


def test_new_samples_arrive_as_points() -> None:
    host = factories.host()
    factories.host_sample(host)
    page = HostPage(host.pk, LOOKER)
    assert page.read(timezone.now()).streams["points"].entries == []
    factories.host_sample(host, cpu_percent=77.0)
    entries = page.read(timezone.now()).streams["points"].entries
    assert next((line, value) for _, (line, _, value) in entries) == ("cpu", 77.0)
    assert page.missed("points", entries[0][0] - 1, entries[0][0])[0] == entries[:1]


def test_gpus_have_charts_where_there_are_some() -> None:
    host = factories.host()
    page = HostPage(host.pk, LOOKER)
    assert [key for key, _, _ in page.details(page.context()["shown"], SPANS["1h"])["figures"]] == ["c-load"]
    factories.host_sample(host, gpus=[{"index": 0, "utilisation_percent": 5}])
    keys = [key for key, _, _ in page.details(page.context()["shown"], SPANS["24h"])["figures"]]
    assert keys == ["c-load", "c-gpu", "c-gpu-memory"]
