"""Chat messages → token ids, as the target model reads them, and which of those ids are an answer to learn from.

Loads without torch and without transformers: a generation run's first request waits for this module.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from pipeline.chat_template import GENERATION_END, GENERATION_START, ChatTemplate
from pipeline.control_tokens import ASSISTANT, ControlTokens
from pipeline.datasets.conversation import Conversation
from pipeline.errors import DataError
from pipeline.tokenizer_folder import TokenizerFolder

Message = Mapping[str, Any]
Span = tuple[int, int]
"""Characters from … to, of the text that is tokenized."""


class PromptTokenizer:
    """A tokenizer with its chat template. Safe to use from several threads."""

    def __init__(self, files: TokenizerFolder, templates: Mapping[str, ChatTemplate]) -> None:
        source = "".join(template.source for template in templates.values())
        self._controls = ControlTokens(files.tokenizer["added_tokens"], source)
        self._tokenizer = Tokenizer.from_str(json.dumps(self._controls.rename(files.tokenizer)))
        self._templates = templates
        self.vocab_size = files.vocab_size()
        """Ids below this are safe to send to an engine."""
        self.eos_token_ids = files.eos_token_ids()
        """Tokens that end an answer."""

    @classmethod
    def load(
        cls, folder: Path, chat_template: str = "", chat_template_kwargs: Mapping[str, Any] | None = None
    ) -> "PromptTokenizer":
        """Read tokenizer.json and what stands beside it. `chat_template` replaces the folder's own when it is not empty;
        `chat_template_kwargs` are given to the template, such as enable_thinking. Raises DataError.
        """
        files = TokenizerFolder(folder)
        variables = files.special_tokens() | dict(chat_template_kwargs or {})
        sources = {"default": chat_template} if chat_template else files.chat_templates()
        return cls(files, {name: ChatTemplate(source, variables) for name, source in sources.items()})

    def encode(self, conversation: Conversation) -> list[int]:
        """The prompt's ids, generation prompt included. Raises DataError that names the row when the template refuses it."""
        try:
            if conversation.input_ids:
                ids = list(conversation.input_ids)
            else:
                text = self._render(conversation.messages, conversation.tools, add_generation_prompt=True)
                ids = self._tokenizer.encode(_unmarked(text), add_special_tokens=False).ids
            if min(ids, default=0) < 0 or max(ids, default=0) >= self.vocab_size:
                raise DataError(f"a token id is not in 0 … {self.vocab_size - 1}")
        except DataError as error:
            raise DataError(f"prompt {conversation.key} (id {conversation.id!r}): {error}") from error
        return ids

    def decode(self, ids: Sequence[int], *, skip_special_tokens: bool = True) -> str:
        """Text of ids. Half a character at the end of a cut answer shows as U+FFFD."""
        return self._controls.restore(self._tokenizer.decode(list(ids), skip_special_tokens=skip_special_tokens))

    def conversation_ids(
        self, messages: Sequence[Message], *, tools: Sequence[Message] = (), row: str = ""
    ) -> tuple[list[int], list[int]]:
        """Ids of a whole conversation and its loss mask, of the same length: 1 where the assistant speaks.

        The mask comes from the template's generation markers, or else from what each assistant turn adds to the chat before
        it, up to its end token. Raises DataError, naming `row`, when the mask would be all zero.
        """
        try:
            text, spans = self._text_and_spans(messages, tools)
        except DataError as error:
            raise DataError(f"{row or 'conversation'}: {error}") from error
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        mask = self._mask(encoding.ids, encoding.offsets, spans)
        if 1 not in mask:
            raise DataError(f"{row or 'conversation'}: nothing to train on: no assistant turn is marked by the chat template")
        return encoding.ids, mask

    def _render(self, messages: Sequence[Message], tools: Sequence[Message], *, add_generation_prompt: bool) -> str:
        template = self._templates.get("tool_use" if tools else "default") or self._templates.get("default")
        if template is None:
            raise DataError("the tokenizer has no chat template")
        chat = [_with_aliases(message) for message in self._controls.break_messages(messages)]
        rendered = template.render(chat, tools=self._controls.break_tools(tools), add_generation_prompt=add_generation_prompt)
        return self._controls.name_structure(rendered)

    def _text_and_spans(self, messages: Sequence[Message], tools: Sequence[Message]) -> tuple[str, list[Span]]:
        marked = self._render(messages, tools, add_generation_prompt=False)
        if GENERATION_START in marked:
            return _take_markers(marked)
        spans = []
        for i, message in enumerate(messages):
            if message["role"] != ASSISTANT:
                continue
            before = self._render(messages[:i], tools, add_generation_prompt=True)
            after = self._render(messages[: i + 1], tools, add_generation_prompt=False)
            # A template may print an earlier turn differently once others follow (dropped thinking): no prefix, not trained.
            if after.startswith(before) and marked.startswith(after):
                spans.append((len(before), len(after)))
        return marked, spans

    def _mask(self, ids: list[int], offsets: list[Span], spans: list[Span]) -> list[int]:
        """1 for tokens that begin inside a span, up to the first end token in it."""
        mask = [0] * len(ids)
        starts = [start for start, _ in spans]
        ended = -1
        for position, (begin, _) in enumerate(offsets):
            span = bisect_right(starts, begin) - 1
            if span < 0 or begin >= spans[span][1] or span == ended:
                continue
            mask[position] = 1
            if ids[position] in self.eos_token_ids:
                ended = span
        return mask


def _with_aliases(message: dict[str, Any]) -> dict[str, Any]:
    """Templates read reasoning under two names."""
    reasoning = message.get("reasoning_content")
    return message if reasoning is None else {"thinking": reasoning, **message}


def _unmarked(text: str) -> str:
    return text.replace(GENERATION_START, "").replace(GENERATION_END, "")


def _take_markers(marked: str) -> tuple[str, list[Span]]:
    """Text without markers, and where what they enclosed lies in it."""
    text, spans = "", []
    for i, piece in enumerate(marked.split(GENERATION_START)):
        inside, _, outside = piece.partition(GENERATION_END) if i else ("", "", piece)
        if i:
            spans.append((len(text), len(text) + len(inside)))
        text += inside + outside
    return text, spans
