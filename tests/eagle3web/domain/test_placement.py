"""Which host takes a run: heard, not drained, with the tags and the free devices."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from eagle3web.domain import placement
from eagle3web.domain.placement import Hosts, Place
from eagle3web.models import Host, Run
from tests.support import factories

pytestmark = pytest.mark.django_db


def host(name: str, *, gpus: int = 0, **fields: Any) -> Host:
    return factories.host(name=name, sample={"gpus": [{"index": index} for index in range(gpus)]}, **fields)


def run(*devices: str, **fields: Any) -> Run:
    return factories.run(stage="train", devices=list(devices), **fields)


def place(asking: Run) -> Place:
    return Hosts.read().place(asking)


def test_nobody_heard_says_what_to_do() -> None:
    assert place(run()) == Place(waits="no worker was heard of for a while, so nothing can start; start one on a GPU host")
    host("gpu-01", seen_at=timezone.now() - timedelta(minutes=3))
    assert place(run()).waits.startswith("no worker was heard of")


def test_any_host_takes_what_asks_for_nothing_and_the_least_busy_one_first() -> None:
    host("gpu-01")
    host("gpu-02")
    assert place(run()) == Place(host="gpu-01")
    factories.attempt(host="gpu-01", status="running")
    assert place(run()) == Place(host="gpu-02")


def test_the_host_of_the_last_attempt_comes_first_since_it_has_the_files() -> None:
    host("gpu-01")
    host("gpu-02")
    before = run()
    factories.attempt(before, host="gpu-02", status="lost", number=1)
    factories.attempt(host="gpu-02", status="running")
    last = placement.last_hosts([before, run()])
    assert last == {before.pk: "gpu-02"}
    assert Hosts.read().place(before, last_host=last[before.pk]) == Place(host="gpu-02")


def test_a_named_host_is_waited_for() -> None:
    host("gpu-01")
    assert place(run(host="gpu-02")).waits == "waits for gpu-02, which was never heard"
    host("gpu-02", seen_at=timezone.now() - timedelta(seconds=180))
    assert place(run(host="gpu-02")).waits == "waits for gpu-02, which was not heard for 3 min"
    Host.objects.update(seen_at=timezone.now())
    assert place(run(host="gpu-02")) == Place(host="gpu-02")


def test_a_drained_host_takes_nothing_and_says_who_drained_it() -> None:
    host("gpu-01", drained_at=timezone.now(), drained_by=factories.user("ada"))
    assert place(run()).waits == "waits for a host: gpu-01 is drained by ada"
    host("gpu-02")
    assert place(run()) == Place(host="gpu-02")
    assert place(run(host="gpu-01")).waits == "waits for gpu-01, which is drained by ada"


def test_tags_are_asked_for_all_of_them() -> None:
    host("gpu-01", tags=["a100", "nvme"])
    host("gpu-02", tags=["h200"])
    assert place(run(host_tags=["h200"])) == Place(host="gpu-02")
    assert place(run(host_tags=["h200", "nvme"])).waits == ("waits for a host: gpu-01 has no tag h200; gpu-02 has no tag nvme")


def test_free_devices_are_given_in_order_and_none_twice() -> None:
    gpus = host("gpu-01", gpus=4)
    holder = factories.attempt(host="gpu-01", status="running")
    holder.leases.create(host=gpus.name, device="cuda:1")
    assert place(run("cuda:*", "cuda:*")) == Place(host="gpu-01", devices=("cuda:0", "cuda:2"))
    assert place(run("cuda:2", "cuda:*")) == Place(host="gpu-01", devices=("cuda:2", "cuda:0"))
    assert place(run(*["cuda:*"] * 4)).waits == "waits for a host: gpu-01 has 3 free of 4 GPUs, and 4 are asked for"
    assert place(run("cuda:1")).waits == f"waits for a host: gpu-01 has lent cuda:1 to {holder}"


def test_what_is_kept_is_held_for_the_next() -> None:
    host("gpu-01", gpus=1)
    first, second = run("cuda:*"), run("cuda:*")
    hosts = Hosts.read()
    hosts.keep(hosts.place(first), first)
    assert hosts.place(second).waits == "waits for a host: gpu-01 has 0 free of 1 GPUs, and 1 are asked for"


def test_a_gpu_that_no_host_reports_is_looked_for_only_where_the_run_names_the_host() -> None:
    host("gpu-01")
    assert place(run("cuda:0")).waits == "waits for a host: gpu-01 has no cuda:0"
    assert place(run("cuda:*")).waits == "waits for a host: gpu-01 has no GPU"
    assert place(run("cuda:0", host="gpu-01")) == Place(host="gpu-01", devices=("cuda:0",))
    assert place(run("cpu")) == Place(host="gpu-01", devices=("cpu",))


def test_a_sentence_names_three_hosts_and_counts_the_rest() -> None:
    for number in range(5):
        host(f"gpu-{number}")
    assert place(run(host_tags=["h200"])).waits == (
        "waits for a host: gpu-0 has no tag h200; gpu-1 has no tag h200; gpu-2 has no tag h200; and 2 more"
    )


def test_here_hears_itself_and_needs_no_report() -> None:
    assert placement.here(run("cuda:0", host="test-host")) == Place(host="test-host", devices=("cuda:0",))
    assert placement.here(run(host="gpu-01")).host == ""
    host("test-host", seen_at=None)
    assert placement.here(run()) == Place(host="test-host")
    Host.objects.update(drained_at=timezone.now())
    assert placement.here(run()).host == ""


def test_reading_takes_three_queries_and_one_for_the_clock(django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(10):
        host(f"gpu-{number}", gpus=8)
        factories.attempt(host=f"gpu-{number}", status="running").leases.create(host=f"gpu-{number}", device="cuda:0")
    asking = run("cuda:*")
    with django_assert_max_num_queries(4):
        assert place(asking).devices == ("cuda:1",)
