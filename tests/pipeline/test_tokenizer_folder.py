import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.errors import DataError
from pipeline.tokenizer_folder import TokenizerFolder
from tests.support.models import tiny_tokenizer


def folder(tmp_path: Path, *, template: str = "", **files: Any) -> TokenizerFolder:
    tiny_tokenizer(tmp_path, template=template)
    for name, content in files.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return TokenizerFolder(tmp_path)


def test_a_folder_without_a_tokenizer_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"holds no tokenizer\.json"):
        TokenizerFolder(tmp_path)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    tiny_tokenizer(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(DataError, match=r"config\.json cannot be read"):
        TokenizerFolder(tmp_path)


def test_the_template_is_found_in_each_of_its_places(tmp_path: Path) -> None:
    assert folder(tmp_path).chat_templates() == {}
    assert folder(tmp_path, chat_template={"chat_template": "A"}).chat_templates() == {"default": "A"}
    assert folder(tmp_path, tokenizer_config={"chat_template": "B"}).chat_templates() == {"default": "B"}
    named = [{"name": "default", "template": "C"}, {"name": "tool_use", "template": "D"}]
    assert folder(tmp_path, tokenizer_config={"chat_template": named}).chat_templates() == {"default": "C", "tool_use": "D"}
    assert folder(tmp_path, template="E").chat_templates() == {"default": "E"}


def test_special_tokens_come_as_text_or_as_objects(tmp_path: Path) -> None:
    config = {"bos_token": {"content": "<s>", "lstrip": False}, "eos_token": "</s>", "pad_token": None, "add_bos_token": True}
    assert folder(tmp_path, tokenizer_config=config).special_tokens() == {"bos_token": "<s>", "eos_token": "</s>"}


def test_the_vocabulary_ends_where_the_tokenizer_or_the_model_does(tmp_path: Path) -> None:
    size = folder(tmp_path).vocab_size()
    assert size == len(json.loads((tmp_path / "tokenizer.json").read_text())["model"]["vocab"])
    assert folder(tmp_path, config={"vocab_size": 100}).vocab_size() == 100
    assert folder(tmp_path, config={"vocab_size": 10**6}).vocab_size() == size
    assert folder(tmp_path, config={"text_config": {"vocab_size": 50}}).vocab_size() == 50


def test_end_tokens_are_gathered_from_all_configs(tmp_path: Path) -> None:
    assert folder(tmp_path).eos_token_ids() == (2,)
    assert folder(tmp_path, generation_config={"eos_token_id": [2, 0]}, config={"eos_token_id": 7}).eos_token_ids() == (2, 0, 7)
