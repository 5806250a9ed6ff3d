from pathlib import Path

import pytest

from pipeline.__main__ import main


def test_folder_without_shards_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["join-hidden", str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err == f"error: {tmp_path}: no hidden states here (layout.json is missing)\n"
