from pathlib import Path

import pytest
import torch

from tests.support.tiny_model import save_tiny_model, tiny_llama, tiny_qwen2
from tests.support.tiny_speculation import save_deep_target


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def llama_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tiny_llama(), tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="session")
def qwen_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny_model(tiny_qwen2(), tmp_path_factory.mktemp("qwen2"))


@pytest.fixture(scope="session")
def deep_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target with layers enough for the three features of a drafter."""
    return save_deep_target(tmp_path_factory.mktemp("deep"))
