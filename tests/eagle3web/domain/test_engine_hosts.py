"""Where engines may be."""

import pytest
from django.core.exceptions import ValidationError
from pytest_django import Settings

from eagle3web.domain import engines
from eagle3web.domain.engine_hosts import check_engine_host
from eagle3web.domain.registry import change_engine, register_engine
from eagle3web.enums import EngineState
from eagle3web.models import Engine
from tests.support import factories

ALLOWED = ["gpu-07", "gpu-08:30000", ".gpus.example", "10.1.0.0/16", "fd12::/64", "[::1]:30000"]
TAKEN = [
    "http://GPU-07:1", "http://gpu-08:30000", "http://a.gpus.example:5", "http://10.1.2.3:30000", "http://[fd12::9]:1",
    "http://[::1]:30000",
]  # fmt: skip
REFUSED = [
    "http://gpu-09:30000", "http://gpu-08:30001", "http://gpus.example.evil:1", "http://xgpus.example:1", "http://10.2.0.1",
    "http://localhost:6379", "http://[::1]:6379",
]  # fmt: skip


@pytest.mark.parametrize("url", ["http://gpu-07:30000", "https://sglang.example", "http://127.0.0.1:30000", "http://10.9.9.9"])
def test_without_a_list_engines_may_be_anywhere(url: str, settings: Settings) -> None:
    settings.EAGLE3_ENGINE_HOSTS = []
    check_engine_host(url)


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://[fe80::1]", "http://0.0.0.0:30000"])
def test_link_local_addresses_are_refused_with_or_without_a_list(url: str, settings: Settings) -> None:
    for allowed in ([], ["169.254.0.0/16", "0.0.0.0/8", "fe80::/10"]):
        settings.EAGLE3_ENGINE_HOSTS = allowed
        with pytest.raises(ValueError, match="link-local or multicast"):
            check_engine_host(url)


@pytest.mark.parametrize("url", TAKEN)
def test_hosts_on_the_list_are_taken(url: str, settings: Settings) -> None:
    settings.EAGLE3_ENGINE_HOSTS = ALLOWED
    check_engine_host(url)


@pytest.mark.parametrize("url", REFUSED)
def test_all_others_are_refused(url: str, settings: Settings) -> None:
    settings.EAGLE3_ENGINE_HOSTS = ALLOWED
    with pytest.raises(ValueError, match="EAGLE3_ENGINE_HOSTS"):
        check_engine_host(url)


@pytest.mark.django_db
def test_an_engine_is_neither_registered_nor_moved_there(settings: Settings) -> None:
    settings.EAGLE3_ENGINE_HOSTS = ["gpu-07"]
    with pytest.raises(ValidationError) as caught:
        register_engine("e1", user=None, url="http://localhost:6379")
    assert list(caught.value.message_dict) == ["url"]
    engine = register_engine("e1", user=None, url="http://gpu-07:30000")
    with pytest.raises(ValidationError):
        change_engine(engine, user=None, url="http://localhost:6379")
    settings.EAGLE3_ENGINE_HOSTS = ["gpu-08"]
    change_engine(Engine.objects.get(), user=None, enabled=False)
    assert Engine.objects.get().url == "http://gpu-07:30000"


@pytest.mark.django_db
def test_an_engine_that_was_taken_off_the_list_is_not_asked_any_more(settings: Settings) -> None:
    settings.EAGLE3_ENGINE_HOSTS = ["gpu-07"]
    engine = factories.engine(url="http://127.0.0.1:1")
    engines.check_all()
    engine.refresh_from_db()
    assert engine.state == EngineState.DOWN
    assert "EAGLE3_ENGINE_HOSTS" in engine.reason
