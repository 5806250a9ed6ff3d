from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.generation import GenerateRun, generate_run
from tests.support.servers import stub_engine
from tests.support.stub_engine import Behaviour, StubEngine


@pytest.fixture
def engine() -> Iterator[tuple[StubEngine, str]]:
    """A stub engine that answers in a few hundredths of a second, with a long tail."""
    with stub_engine(Behaviour(latency_s=0.02, token_s=0.001, mean_tokens=24)) as found:
        yield found


@pytest.fixture
def stub(engine: tuple[StubEngine, str]) -> StubEngine:
    return engine[0]


@pytest.fixture
def run(tmp_path: Path, engine: tuple[StubEngine, str]) -> Iterator[GenerateRun]:
    """A run without datasets, over the stub engine."""
    with generate_run(tmp_path / "run", engine[1]) as made:
        yield made
