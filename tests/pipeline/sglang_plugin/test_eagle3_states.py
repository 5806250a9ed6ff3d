"""What the plugin does with a prefill; SGLang itself calls it in tests/sglang/test_states.py."""

import importlib.util
from importlib.metadata import distributions
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from pipeline.serve.command import PLUGIN

RID = f"eagle3-{'0' * 31}a"


@pytest.fixture
def plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("eagle3_states", PLUGIN / "eagle3_states.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_is_first_rank", lambda: True)
    monkeypatch.setenv("EAGLE3_STATES", str(tmp_path))
    return module


def prefill(rid: str, **changes: Any) -> dict[str, Any]:
    output = SimpleNamespace(hidden_states=torch.arange(30.0).view(10, 3), last_hidden_states=torch.arange(10.0).view(10, 1))
    told = {"req": SimpleNamespace(rid=rid), "logits_output": output, "hidden_state_offset": 2, "extend_input_len": 4}
    return told | changes


def original(_processor: object, **told: Any) -> str:
    return f"original {told['req'].rid}"


def test_rows_of_one_request_are_written_and_the_next_ones_begin_behind(plugin: ModuleType, tmp_path: Path) -> None:
    assert plugin.keep(original, None, **prefill(RID)) == 6
    found = load_file(tmp_path / f"{RID}.safetensors")
    assert torch.equal(found["features"], torch.arange(30.0).view(10, 3)[2:6])
    assert torch.equal(found["last_hidden"], torch.arange(10.0).view(10, 1)[2:6])


def test_what_is_not_to_be_kept_moves_the_offset_alone(plugin: ModuleType, tmp_path: Path) -> None:
    assert plugin.keep(original, None, **prefill(RID, store=False)) == 6
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("rid", ["another", "eagle3-../../etc/passwd", f"{RID}0", ""])
def test_requests_that_are_not_ours_stay_sglangs(plugin: ModuleType, tmp_path: Path, rid: str) -> None:
    assert plugin.keep(original, None, **prefill(rid)) == f"original {rid}"
    assert list(tmp_path.iterdir()) == []


def test_states_that_were_not_captured_stay_sglangs(plugin: ModuleType) -> None:
    output = SimpleNamespace(hidden_states=torch.zeros(10, 3), last_hidden_states=None)
    assert plugin.keep(original, None, **prefill(RID, logits_output=output)) == f"original {RID}"


def test_sglang_finds_it_by_its_path_alone() -> None:
    (found,) = distributions(path=[str(PLUGIN)])
    assert [(entry.group, entry.name, entry.value) for entry in found.entry_points] == [
        ("sglang.srt.plugins", "eagle3_states", "eagle3_states:register")
    ]


def test_without_a_folder_nothing_is_changed(plugin: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EAGLE3_STATES")
    plugin.register()
