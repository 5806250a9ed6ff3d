"""Engines are judged by what they do, not by what /health says."""

import pytest
from django.utils import timezone

from eagle3web.domain import engines
from eagle3web.enums import EngineState
from eagle3web.models import Engine, EngineSample
from pipeline.serving.client import EngineHealth, EngineLoads, ModelInfo
from tests.support import factories
from tests.support.servers import stub_engine
from tests.support.stub_engine import Behaviour

pytestmark = pytest.mark.django_db


def checked(url: str, **fields: object) -> Engine:
    engine = factories.engine(**{"url": url, "state": EngineState.UNKNOWN, "state_since": None, "info": {}} | fields)
    engines.check_all()
    engine.refresh_from_db()
    return engine


def test_check_of_a_healthy_engine_tells_model_and_load() -> None:
    with stub_engine(Behaviour(vocab_size=1000, context_length=4096)) as (_stub, url):
        engine = checked(url)
    assert (engine.state, engine.reason) == (EngineState.HEALTHY, "")
    assert engine.info == {"model_path": "stub", "context_length": 4096, "version": "stub", "vocab_size": 1000}
    assert (engine.running, engine.waiting, engine.tokens_per_s) == (0, 0, 0.0)
    assert engine.checked_at is not None
    assert engine.state_since is not None


@pytest.mark.parametrize(
    ("told", "folder"),
    [
        (None, None),
        ({"folder": "/hidden/captured", "documents": 3, "off": None}, "/hidden/captured"),
        ({"folder": "/hidden/captured", "documents": 3, "off": "disk full"}, None),
    ],
)
def test_write_keeps_where_an_engine_captures(told: object, folder: str | None) -> None:
    engine = factories.engine()
    loads = EngineLoads(running=0, waiting=0, gen_throughput=0.0, server_info={"capture": told})
    finding = engines.Finding(health=EngineHealth(state="ok"), model=ModelInfo(model_path="m"), loads=loads)
    engines.write(engine, finding)
    engine.refresh_from_db()
    assert engine.info.get("capture") == folder


@pytest.mark.parametrize(
    ("behaviour", "state"),
    [
        (Behaviour(startup_s=60), EngineState.LOADING),
        (Behaviour(refuse=True), EngineState.HEALTHY),
        (Behaviour(latency_s=60), EngineState.HANGING),
    ],
)
def test_check_tells_loading_from_full_from_hanging(
    behaviour: Behaviour, state: EngineState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "PROBE_S", 0.3)
    with stub_engine(behaviour) as (_stub, url):
        assert checked(url).state == state


def test_check_of_an_engine_that_is_down_keeps_what_it_said() -> None:
    engine = checked("http://127.0.0.1:9", info={"model_path": "m"}, running=5, tokens_per_s=300.0)
    assert engine.state == EngineState.DOWN
    assert engine.reason
    assert (engine.info, engine.running, engine.tokens_per_s) == ({"model_path": "m"}, 0, None)


def test_check_keeps_the_moment_of_the_last_change() -> None:
    moment = timezone.now()
    engine = checked("http://127.0.0.1:9", state=EngineState.DOWN, state_since=moment)
    assert engine.state_since == moment


def test_check_leaves_out_what_is_switched_off() -> None:
    assert checked("http://127.0.0.1:9", enabled=False).state == EngineState.UNKNOWN


def test_check_does_not_judge_a_new_address_by_the_old_one() -> None:
    engine = factories.engine(url="http://127.0.0.1:9", state=EngineState.UNKNOWN)
    Engine.objects.update(url="http://127.0.0.1:10")
    engines.write(engine, engines.Finding(health=EngineHealth(state="down")))
    engine.refresh_from_db()
    assert engine.state == EngineState.UNKNOWN


def test_check_keeps_a_sample_of_what_a_healthy_engine_says() -> None:
    with stub_engine(Behaviour()) as (_stub, url):
        engine = checked(url)
    sample = EngineSample.objects.get()
    assert (sample.engine, sample.at, sample.tokens_per_s, sample.waiting) == (engine, engine.checked_at, 0.0, 0)


def test_check_keeps_no_sample_of_an_engine_that_is_down() -> None:
    checked("http://127.0.0.1:9")
    assert not EngineSample.objects.exists()
