"""Keeps text apart from structure: `<|im_end|>` typed by a user is text, `<|im_end|>` printed by the template ends a turn.

The tokenizer is loaded with its control tokens renamed to strings that no text may hold. Then

    messages ──break──▶ template ──▶ rendered text ──name──▶ ids

`break_text` puts a BREAK inside each control token that stands in a message, so that neither the template nor the next step
sees one there. `name_structure` gives the new name to those that the template printed, and takes the BREAKs out again. All
other text goes through unchanged, and so does its tokenization.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pipeline.datasets.json_value import Json
from pipeline.errors import DataError

BREAK = "\ufdd0"
QUOTE = "\ufdd3"
RESERVED = re.compile("[\ufdd0-\ufdd3]")
"""Noncharacters: Unicode keeps them for a program's own use. Messages that hold them are refused."""

ASSISTANT = "assistant"


class ControlTokens:
    """The control tokens of one tokenizer.

    Special tokens always count. An added token that is not special, like `<think>`, counts when the chat template prints it;
    but not in assistant turns, where a model wrote it.
    """

    def __init__(self, added_tokens: Iterable[Mapping[str, Any]], template_source: str) -> None:
        special = {str(token["content"]) for token in added_tokens if token["special"]}
        printed = {
            content for token in added_tokens if (content := str(token["content"])) in template_source and not content.isspace()
        }
        self._contents = sorted(special | printed, key=lambda content: (-len(content), content))
        self._names = {content: f"{QUOTE}{i}{QUOTE}" for i, content in enumerate(self._contents)}
        self._all = _any_of(self._contents)
        self._special = _any_of(sorted(special, key=len, reverse=True))

    def rename(self, tokenizer: Mapping[str, Any]) -> dict[str, Any]:
        """A tokenizer.json with the control tokens renamed; ids and everything else stay."""
        names, model = self._names, dict(tokenizer["model"])
        if isinstance(model["vocab"], dict):
            model["vocab"] = {names.get(text, text): i for text, i in model["vocab"].items()}
        else:
            model["vocab"] = [(names.get(text, text), score) for text, score in model["vocab"]]
        if "unk_token" in model:
            model["unk_token"] = names.get(model["unk_token"], model["unk_token"])
        added = [
            token | {"content": self._names.get(token["content"], token["content"])} for token in tokenizer["added_tokens"]
        ]
        # The post-processor adds special tokens, which the chat template prints by itself.
        return {**tokenizer, "model": model, "added_tokens": added, "post_processor": None}

    def break_messages(self, messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Messages whose texts hold no control token. Raises DataError for reserved characters."""
        return [
            {
                key: self._break(value, self._special if message["role"] == ASSISTANT else self._all)
                for key, value in message.items()
            }
            for message in messages
        ]

    def break_tools(self, tools: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The same for function schemas."""
        return [self._break(tool, self._all) for tool in tools]

    def name_structure(self, rendered: str) -> str:
        """The text for the renamed tokenizer."""
        return self._all.sub(lambda found: self._names[found[0]], rendered).replace(BREAK, "")

    def restore(self, text: str) -> str:
        """Decoded text with the control tokens' own names."""
        return re.sub(f"{QUOTE}([0-9]+){QUOTE}", lambda found: self._contents[int(found[1])], text)

    def _break(self, value: Json, tokens: re.Pattern[str]) -> Json:
        if isinstance(value, str):
            if RESERVED.search(value):
                raise DataError("text holds a noncharacter between U+FDD0 and U+FDD3")
            return tokens.sub(lambda found: found[0][0] + BREAK + found[0][1:], value)
        if isinstance(value, Mapping):
            return {self._break(key, tokens): self._break(item, tokens) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._break(item, tokens) for item in value]
        return value


def _any_of(contents: list[str]) -> re.Pattern[str]:
    """Longest first, so that a token wins over one that it contains, as in the tokenizer."""
    return re.compile("|".join(map(re.escape, contents)) or r"(?!)")
