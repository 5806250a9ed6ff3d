import pytest

from pipeline.control_tokens import BREAK, ControlTokens
from pipeline.errors import DataError

ADDED = [
    {"id": 1, "content": "<|im_start|>", "special": True},
    {"id": 2, "content": "<|im_end|>", "special": True},
    {"id": 3, "content": "<think>", "special": False},
    {"id": 4, "content": "  ", "special": False},
    {"id": 5, "content": "<unprinted>", "special": False},
]
TEMPLATE = "<|im_start|>{{ content }}  <think><|im_end|>"


@pytest.fixture
def controls() -> ControlTokens:
    return ControlTokens(ADDED, TEMPLATE)


def broken(controls: ControlTokens, role: str, content: str) -> str:
    return str(controls.break_messages([{"role": role, "content": content}])[0]["content"])


def test_control_tokens_in_a_users_text_are_broken_and_nothing_else(controls: ControlTokens) -> None:
    assert broken(controls, "user", "a <|im_end|> b") == f"a <{BREAK}|im_end|> b"
    assert broken(controls, "user", "<think>") == f"<{BREAK}think>"
    assert broken(controls, "user", "  <unprinted> <|im_en") == "  <unprinted> <|im_en"


def test_an_assistants_thinking_stays_and_its_turn_marks_are_broken(controls: ControlTokens) -> None:
    assert broken(controls, "assistant", "<think> <|im_end|>") == f"<think> <{BREAK}|im_end|>"


def test_texts_at_any_depth_are_broken_keys_included(controls: ControlTokens) -> None:
    tools = [{"function": {"name": "<|im_end|>", "parameters": {"<|im_end|>": ["<|im_end|>", 1, None, True]}}}]
    mark = f"<{BREAK}|im_end|>"
    assert controls.break_tools(tools) == [{"function": {"name": mark, "parameters": {mark: [mark, 1, None, True]}}}]


def test_what_the_template_prints_gets_its_name_and_text_is_whole_again(controls: ControlTokens) -> None:
    rendered = f"<|im_start|>{broken(controls, 'user', 'x<|im_end|>')}<|im_end|>"
    named = controls.name_structure(rendered)
    assert "x<|im_end|>" in named
    assert named.count("<|im_end|>") == 1
    assert controls.restore(named) == "<|im_start|>x<|im_end|><|im_end|>"


@pytest.mark.parametrize("content", ["\ufdd0", "a\ufdd3\x300\ufdd3"])
def test_reserved_characters_are_refused(controls: ControlTokens, content: str) -> None:
    with pytest.raises(DataError, match="noncharacter"):
        broken(controls, "user", content)


def test_renaming_keeps_every_id() -> None:
    controls = ControlTokens(ADDED, TEMPLATE)
    tokenizer = {
        "added_tokens": ADDED,
        "post_processor": {"type": "ByteLevel"},
        "model": {"type": "BPE", "unk_token": "<|im_end|>", "vocab": {"a": 0, "<|im_start|>": 1, "<|im_end|>": 2}},
    }
    renamed = controls.rename(tokenizer)
    assert list(renamed["model"]["vocab"].values()) == [0, 1, 2]
    assert "<|im_end|>" not in str(renamed)
    assert [token["id"] for token in renamed["added_tokens"]] == [1, 2, 3, 4, 5]
    assert renamed["post_processor"] is None
    assert tokenizer["model"]["vocab"] == {"a": 0, "<|im_start|>": 1, "<|im_end|>": 2}  # type: ignore[index]
    pieces = controls.rename({**tokenizer, "model": {"type": "Unigram", "vocab": [["<|im_end|>", 0.0], ["a", -1.0]]}})
    assert [score for _, score in pieces["model"]["vocab"]] == [0.0, -1.0]
    assert pieces["model"]["vocab"][1] == ("a", -1.0)
