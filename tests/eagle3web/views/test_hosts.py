"""The pages of machines."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests.support import factories

pytestmark = pytest.mark.django_db


def many_samples() -> None:
    now = timezone.now()
    for name in ("gpu-01", "gpu-02", "gpu-03"):
        host, engine = factories.host(name=name), factories.engine(name=name)
        attempt = factories.attempt(host=name)
        attempt.leases.create(host=name, device="cuda:0")
        for n in range(20):
            factories.host_sample(host, at=now - timedelta(seconds=5 * n))
            factories.engine_sample(engine, at=now - timedelta(seconds=5 * n))


@pytest.mark.parametrize("path", ["/engines/", "/hosts/gpu-01/", "/hosts/gpu-01/?span=24h"])
def test_page_costs_few_queries(viewer: Client, path: str, django_assert_max_num_queries: Callable[..., Any]) -> None:
    many_samples()
    with django_assert_max_num_queries(24):
        answer = viewer.get(path)
    assert answer.status_code == 200


def test_span_stands_in_the_address(viewer: Client) -> None:
    factories.host(name="gpu-01")
    assert 'aria-current="true">last hour' in viewer.get("/hosts/gpu-01/?span=nonsense").content.decode()
    assert 'aria-current="true">last 24 hours' in viewer.get("/hosts/gpu-01/?span=24h").content.decode()


def test_unknown_host_is_not_found(viewer: Client) -> None:
    assert viewer.get("/hosts/nobody/").status_code == 404


def test_engines_page_names_who_holds_what(viewer: Client) -> None:
    many_samples()
    html = viewer.get("/engines/").content.decode()
    assert html.count("cuda:0") == 3
    assert 'href="/hosts/gpu-02/"' in html
