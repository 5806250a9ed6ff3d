import shutil
from pathlib import Path

import pytest

from tests.support.tiny_training import make_files


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny target and its stored answers, made once; copy from here."""
    return make_files(tmp_path_factory.mktemp("training"))


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A folder of one test's own with `target` and `hidden`."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is told in an event of its own."""
    monkeypatch.setattr("pipeline.training.meter.EVERY_S", 0.0)
