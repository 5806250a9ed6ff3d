import argparse
from pathlib import Path

import pytest

from pipeline.answer_sets import AnswerSet
from pipeline.artifacts import read_json, write_json
from pipeline.config import from_mapping
from pipeline.errors import ConfigError
from pipeline.extraction.config import ExtractConfig
from pipeline.extraction.flags import add_arguments, make_attempt
from pipeline.responses.manifest import MANIFEST
from tests.support.answers import answer
from tests.support.extraction import store_answers


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


def config_of(root: Path, *more: str) -> ExtractConfig:
    flags = ("--responses", str(root / "responses"), "--target", "model", "--out", str(root / "out"))
    folder = make_attempt(parsed(*flags, *more))
    return from_mapping(ExtractConfig, read_json(folder.config))


def test_all_datasets_of_a_folder_are_taken_and_attempts_are_numbered(tmp_path: Path) -> None:
    store_answers(tmp_path, [answer(1)])
    config = config_of(tmp_path, "--layers", "1", "2", "3", "--storage-dtype", "float32")
    assert config.datasets == (AnswerSet(dataset="B1", revision="rev1"),)
    assert (config.feature_layers, config.storage_dtype, config.hidden) == ((1, 2, 3), "float32", str(tmp_path / "out"))
    config_of(tmp_path)
    assert sorted(path.name for path in (tmp_path / "out" / "attempts").iterdir()) == ["1", "2"]


def test_dataset_with_several_revisions_needs_one_to_be_named(tmp_path: Path) -> None:
    store_answers(tmp_path, [answer(1)])
    scopes = [{"revision": "rev1", "sampling": "a"}, {"revision": "rev2", "sampling": "a"}]
    write_json(tmp_path / "responses" / "B1" / MANIFEST, {"scopes": scopes})
    with pytest.raises(ConfigError, match=r"2 revisions: choose one \(B1@rev1, B1@rev2\)"):
        config_of(tmp_path)
    assert config_of(tmp_path, "--dataset", "B1@rev2").datasets == (AnswerSet(dataset="B1", revision="rev2"),)


def test_folder_without_answers_and_unknown_datasets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no dataset here"):
        config_of(tmp_path)
    with pytest.raises(ConfigError, match="B9: no answers here"):
        config_of(tmp_path, "--dataset", "B9")
