"""What hosts report."""

from datetime import timedelta

import pytest
from django.utils import timezone
from pytest_django import Settings

from eagle3web.domain import hosts, procfs
from eagle3web.models import AuditEntry, Host, HostSample
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


@pytest.mark.django_db
def test_a_host_that_nobody_asks_reports_by_itself_and_is_asked_again() -> None:
    hosts.report()
    assert hosts.report_unasked() is False
    Host.objects.update(seen_at=timezone.now() - timedelta(minutes=6))
    assert hosts.listening() == []
    assert hosts.report_unasked() is True
    assert hosts.listening() == ["test-host"]
    assert HostSample.objects.count() == 2


@pytest.mark.django_db
def test_report_tells_the_tags_of_this_host_and_how_its_clock_stands(settings: Settings) -> None:
    settings.EAGLE3_HOST_TAGS = ["h200", "nvme"]
    host = hosts.report()
    assert host.tags == ["h200", "nvme"]
    assert host.clock_ahead_s is not None
    assert abs(host.clock_ahead_s) < 1


@pytest.mark.django_db
def test_drain_says_who_and_why_and_a_report_does_not_end_it() -> None:
    ada, host = factories.user("ada"), factories.host(name="test-host")
    assert hosts.drain(host, user=ada, reason="new driver")
    assert not hosts.drain(host, user=None)
    found = hosts.report()
    assert (found.drained_by, found.drain_reason, found.drained_at is not None) == (ada, "new driver", True)
    assert hosts.undrain(host, user=ada)
    assert not hosts.undrain(host, user=ada)
    assert (host.drained_at, host.drained_by, host.drain_reason) == (None, None, "")
    assert list(AuditEntry.objects.order_by("id").values_list("verb", "detail__host")) == [
        ("host.drain", "test-host"), ("host.undrain", "test-host"),
    ]  # fmt: skip


@pytest.mark.django_db
def test_every_report_is_kept_as_a_sample() -> None:
    first, second = hosts.report(), hosts.report()
    assert list(HostSample.objects.values_list("host", "at")) == [(first.pk, first.seen_at), (second.pk, second.seen_at)]
    sample = HostSample.objects.latest("at")
    kept = {name: getattr(sample, name) for name in hosts.KEPT}
    assert kept == {name: second.sample[name] for name in hosts.KEPT}
