"""The pages of machines."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from eagle3web.models import Attempt, Host
from tests.support import factories

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


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


def test_drain_asks_first_and_tells_what_goes_on_and_what_waits(operator: Client) -> None:
    many_samples()
    factories.run(host="gpu-01")
    html = operator.get("/hosts/gpu-01/drain/", headers=HTMX).content.decode()
    assert "<html" not in html
    assert f"r{Attempt.objects.get(host='gpu-01').run_id} goes on to its end." in html
    assert "1 queued run that names it waits until it takes work again." in html
    assert Host.objects.get(name="gpu-01").drained_at is None


def test_drained_host_says_since_when_by_whom_and_why_until_it_takes_work_again(operator: Client) -> None:
    factories.host(name="gpu-01", tags=["h200"])
    answer = operator.post("/hosts/gpu-01/drain/", {"reason": "new <driver>"}, headers=HTMX)
    assert json.loads(answer.headers["HX-Trigger"]) == {"done": {"title": "gpu-01 gets no new attempt"}}
    html = operator.get("/hosts/gpu-01/").content.decode()
    assert "It gets no new attempt since" in html
    assert ": new &lt;driver&gt;" in html
    assert '<span class="tag mono">h200</span>' in html
    assert "drained" in operator.get("/engines/").content.decode()
    assert "was drained already" in operator.post("/hosts/gpu-01/drain/", headers=HTMX).headers["HX-Trigger"]
    assert "within ten seconds" in operator.get("/hosts/gpu-01/undrain/").content.decode()
    assert operator.post("/hosts/gpu-01/undrain/").headers["Location"] == "/hosts/gpu-01/"
    assert Host.objects.get().drained_at is None


def test_only_operators_drain(viewer: Client) -> None:
    factories.host(name="gpu-01")
    for verb in ("drain", "undrain"):
        assert viewer.get(f"/hosts/gpu-01/{verb}/").status_code == 403
        assert viewer.post(f"/hosts/gpu-01/{verb}/").status_code == 403
    assert "/drain/" not in viewer.get("/hosts/gpu-01/").content.decode()


@pytest.mark.parametrize(
    ("ahead", "words"),
    [(180.0, "Its clock is 3 min ahead of the database&#x27;s"), (-7.0, "Its clock is 7 s behind the database&#x27;s")],
)
def test_clock_that_is_wrong_is_told(viewer: Client, ahead: float, words: str) -> None:
    factories.host(name="gpu-01", clock_ahead_s=ahead)
    assert words in viewer.get("/hosts/gpu-01/").content.decode()
    Host.objects.update(clock_ahead_s=0.4)
    assert "Its clock" not in viewer.get("/hosts/gpu-01/").content.decode()
