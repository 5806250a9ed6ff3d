from typing import Any

import pytest

from pipeline.datasets.formats.turns import draft_of_turns
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError


def turn(role: str, content: Json = "text", **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def roles_of(*turns: dict[str, Any]) -> list[str]:
    return [message["role"] for message in draft_of_turns(list(turns), field="messages").messages]


def reason_for(turns: Json) -> str:
    with pytest.raises(RowError) as caught:
        draft_of_turns(turns, field="messages")
    return caught.value.reason


def test_earlier_answers_are_context_and_the_last_one_is_dropped() -> None:
    turns = [turn("user", "2+2?"), turn("assistant", "4"), turn("user", "and 3+3?"), turn("assistant", "6")]
    draft = draft_of_turns(turns, field="messages")
    assert draft.messages == [
        {"role": "user", "content": "2+2?"},
        {"role": "assistant", "content": "4"},
        {"role": "user", "content": "and 3+3?"},
    ]
    assert draft.warnings == []


def test_sharegpt_words_mean_the_same() -> None:
    draft = draft_of_turns([{"from": "human", "value": "hi"}, {"from": "gpt", "value": "old"}], field="conversations")
    assert draft.messages == [{"role": "user", "content": "hi"}]


@pytest.mark.parametrize(
    ("name", "role"),
    [("developer", "system"), ("System", "system"), (" HUMAN ", "user"), ("ChatGPT", "assistant"), ("model", "assistant")],
)
def test_role_names_of_all_kinds_become_four(name: str, role: str) -> None:
    assert roles_of(turn("user"), turn(name), turn("user")) == ["user", role, "user"]


def test_a_tool_result_may_be_the_last_turn() -> None:
    call = turn("assistant", None, tool_calls=[{"function": {"name": "f", "arguments": "{}"}}])
    assert roles_of(turn("user"), call, turn("tool", "42")) == ["user", "assistant", "tool"]


def test_what_precedes_the_first_user_turn_is_dropped_but_system() -> None:
    draft = draft_of_turns([turn("assistant"), turn("system"), turn("tool"), turn("user")], field="messages")
    assert [message["role"] for message in draft.messages] == ["system", "user"]
    assert draft.warnings == ["leading assistant turn dropped", "leading tool turn dropped"]


def test_a_system_turn_after_the_end_is_dropped_with_a_warning() -> None:
    draft = draft_of_turns([turn("user"), turn("system")], field="messages")
    assert draft.warnings == ["system turn after the last user turn dropped"]


def test_a_system_text_beside_the_turns_comes_first_unless_they_have_one() -> None:
    beside = draft_of_turns([turn("user")], field="messages", system="Be brief.")
    assert beside.messages[0] == {"role": "system", "content": "Be brief."}
    both = draft_of_turns([turn("system", "Be kind."), turn("user")], field="messages", system="Be brief.")
    assert both.messages[0] == {"role": "system", "content": "Be kind."}


def test_text_parts_are_joined() -> None:
    parts = [{"type": "text", "text": "Describe "}, {"type": "text", "text": "this."}]
    assert draft_of_turns([turn("user", parts)], field="messages").messages[0]["content"] == "Describe this."


def test_an_old_answer_is_not_looked_at() -> None:
    assert roles_of(turn("user"), turn("assistant", None)) == ["user"]


def test_reasoning_and_names_are_kept_and_other_fields_are_not() -> None:
    answer = turn("assistant", "4", reasoning_content="2 and 2", weight=0, name="bot")
    draft = draft_of_turns([turn("user"), answer, turn("user")], field="messages")
    assert draft.messages[1] == {"role": "assistant", "content": "4", "name": "bot", "reasoning_content": "2 and 2"}


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        ("hi", "messages is not a list"),
        ({"role": "user"}, "messages is not a list"),
        ([], "empty conversation"),
        ([turn("system")], "no user turn"),
        (["hi"], "turn is not an object"),
        ([{"content": "hi"}], "turn has no role"),
        ([turn("user"), turn("wizard")], "unknown role"),
        ([{"role": "user"}], "content is missing"),
        ([turn("user", 12)], "content is not text"),
        ([turn("user", "  \n")], "empty user turn"),
        ([turn("user", [])], "empty user turn"),
        ([turn("user", [{"type": "image_url", "image_url": {"url": "x.png"}}])], "content part is not text"),
        ([turn("user", [{"type": "text", "text": 1}])], "content part is not text"),
        ([turn("user"), turn("assistant", None), turn("user")], "content is missing"),
    ],
)
def test_what_cannot_be_used_is_named(turns: Json, reason: str) -> None:
    assert reason_for(turns) == reason
