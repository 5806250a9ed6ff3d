"""What lies in a tokenizer's folder, in the several ways in which people save one."""

import json
from pathlib import Path
from typing import Any

from pipeline.errors import DataError


class TokenizerFolder:
    """The files of a tokenizer on disk. Raises DataError for what is missing or broken."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        if not (folder / "tokenizer.json").is_file():
            raise DataError(f"{folder} holds no tokenizer.json")
        self.tokenizer = self._read("tokenizer.json")
        self._config = self._read("tokenizer_config.json")
        self._model_config = self._read("config.json")

    def chat_templates(self) -> dict[str, str]:
        """Name → Jinja source; empty when the tokenizer has none."""
        file = self._folder / "chat_template.jinja"
        if file.is_file():
            return {"default": file.read_text()}
        template = self._config.get("chat_template") or self._read("chat_template.json").get("chat_template")
        if isinstance(template, list):
            return {entry["name"]: entry["template"] for entry in template}
        return {"default": template} if template else {}

    def special_tokens(self) -> dict[str, str]:
        """bos_token, eos_token and their like, for the template."""
        found = self._read("special_tokens_map.json") | self._config
        texts = {name: token.get("content") if isinstance(token, dict) else token for name, token in found.items()}
        return {name: text for name, text in texts.items() if name.endswith("_token") and isinstance(text, str)}

    def vocab_size(self) -> int:
        """One more than the highest id that both the tokenizer and the model know."""
        vocab = self.tokenizer["model"]["vocab"]
        size: int = len(vocab) if isinstance(vocab, list) else max(vocab.values(), default=-1) + 1
        size = max(size, *(token["id"] + 1 for token in self.tokenizer["added_tokens"]), 0)
        rows = self._model_config.get("text_config", self._model_config).get("vocab_size")
        return min(size, rows) if isinstance(rows, int) else size

    def eos_token_ids(self) -> tuple[int, ...]:
        named = self.special_tokens().get("eos_token")
        found = [token["id"] for token in self.tokenizer["added_tokens"] if token["content"] == named]
        for config in (self._read("generation_config.json"), self._model_config):
            ids = config.get("eos_token_id")
            found += ids if isinstance(ids, list) else [ids] if isinstance(ids, int) else []
        return tuple(dict.fromkeys(found))

    def _read(self, name: str) -> dict[str, Any]:
        path = self._folder / name
        try:
            content: dict[str, Any] = json.loads(path.read_bytes()) if path.is_file() else {}
        except (OSError, ValueError) as error:
            raise DataError(f"{path} cannot be read: {error}") from error
        return content
