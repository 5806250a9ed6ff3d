"""What hosts report."""

from datetime import timedelta

import pytest
from django.utils import timezone

from eagle3web.domain import hosts, procfs
from eagle3web.models import Host
from tests.support import factories


@pytest.mark.django_db
def test_report_writes_one_row_a_host() -> None:
    hosts.report()
    host = hosts.report()
    assert Host.objects.get() == host
    assert (host.name, host.boot_id) == ("test-host", procfs.boot_id())
    assert host.sample["memory_total"] > host.sample["memory_used"] > 0
    assert host.sample["disk_total"] > host.sample["disk_free"] > 0


@pytest.mark.django_db
def test_report_remembers_since_when_it_came_without_a_gap() -> None:
    first = hosts.report()
    assert first.steady_since == first.seen_at
    assert hosts.report().steady_since == first.steady_since
    Host.objects.update(seen_at=timezone.now() - timedelta(seconds=16))
    later = hosts.report()
    assert later.steady_since == later.seen_at


@pytest.mark.django_db
def test_listening_leaves_out_who_was_silent_for_long() -> None:
    factories.host(name="gpu-01")
    factories.host(name="gpu-02", seen_at=timezone.now() - timedelta(minutes=6))
    factories.host(name="gpu-03", seen_at=None)
    assert hosts.listening() == ["gpu-01"]


def test_parse_gpu_reads_a_line_of_nvidia_smi() -> None:
    assert hosts.parse_gpu("0, NVIDIA H200, 37, 81234, 143771") == {
        "index": 0, "name": "NVIDIA H200", "percent": 37, "memory_used": 81234 * 2**20, "memory_total": 143771 * 2**20,
    }  # fmt: skip
    assert hosts.parse_gpu("0, Tesla, [N/A], 1, 2") is None
    assert hosts.parse_gpu("No devices were found") is None
