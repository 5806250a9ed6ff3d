import argparse
from pathlib import Path

import pytest

from pipeline import prepare_model_cli
from pipeline.target_model import smollm2_folder


def run(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    prepare_model_cli.add_arguments(parser)
    return prepare_model_cli.run(parser.parse_args(arguments))


def test_the_last_line_is_the_models_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = smollm2_folder(tmp_path)
    folder.mkdir(parents=True)
    (folder / "manifest.json").write_text("{}")
    assert run("--home", str(tmp_path)) == 0
    out, err = capsys.readouterr()
    assert out == f"{folder}\n"
    assert err.startswith("ready after ")


def test_a_home_that_cannot_be_written_is_an_error_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "models").write_text("a file where the folder should be")
    assert run("--home", str(tmp_path)) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
