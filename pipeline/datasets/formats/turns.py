"""Chat turns: role names, contents, and where the prompt ends. Shared by every format that has turns."""

from typing import Any

from pipeline.datasets.formats.draft import Draft, Message
from pipeline.datasets.formats.toolcalls import read_tool_calls
from pipeline.datasets.json_value import Json
from pipeline.datasets.report import RowError

ROLES = {
    "system": "system", "developer": "system",
    "user": "user", "human": "user",
    "assistant": "assistant", "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant",
    "model": "assistant",
    "tool": "tool", "function": "tool", "observation": "tool",
}  # fmt: skip
"""Role names that are met in the wild, in lower case → the four that chat templates know."""

EXTRAS = ("name", "tool_call_id", "reasoning_content")
"""Text fields of a turn that chat templates may read."""


def draft_of_turns(turns: Json, *, field: str, system: Json = None) -> Draft:
    """Read a list of turns, in OpenAI's or ShareGPT's words, into a prompt. Raises RowError."""
    if not isinstance(turns, (list, tuple)):
        raise RowError(f"{field} is not a list")
    roles = [_role(turn, f"{field}[{i}]") for i, turn in enumerate(turns)]
    if not roles:
        raise RowError("empty conversation")
    if "user" not in roles:
        raise RowError("no user turn")
    draft = Draft()
    kept = _prompt_positions(roles, draft)
    draft.messages = [_message(roles[i], turns[i], f"{field}[{i}]") for i in kept]
    if isinstance(system, str) and system.strip() and "system" not in roles:
        draft.messages.insert(0, {"role": "system", "content": system})
    return draft


def _prompt_positions(roles: list[str], draft: Draft) -> list[int]:
    """Which turns make the prompt: from the first user turn, with the system turns before it, to the last user or tool turn.

    What stands after that is the old answer. Other turns before the first user turn answer nothing and are dropped.
    """
    first = roles.index("user")
    last = max(i for i, role in enumerate(roles) if role in ("user", "tool"))
    leading = sorted({role for role in roles[:first] if role != "system"})
    draft.warnings += [f"leading {role} turn dropped" for role in leading]
    if "system" in roles[last + 1 :]:
        draft.warnings.append("system turn after the last user turn dropped")
    return [i for i in range(last + 1) if i >= first or roles[i] == "system"]


def _role(turn: Json, where: str) -> str:
    if not isinstance(turn, dict):
        raise RowError("turn is not an object", where)
    name = turn.get("role", turn.get("from"))
    if not isinstance(name, str):
        raise RowError("turn has no role", where)
    role = ROLES.get(name.strip().lower())
    if role is None:
        raise RowError("unknown role", f"{name[:50]!r} in {where}")
    return role


def _message(role: str, turn: dict[str, Any], where: str) -> Message:
    message: Message = {"role": role, "content": ""}
    calls = read_tool_calls(turn.get("tool_calls"), where) if role == "assistant" else []
    content = turn.get("content", turn.get("value"))
    # A call without words has null for content. Templates get "" for it, as SGLang gives them.
    if content is not None or not calls:
        message["content"] = _text(content, where)
    if role == "user" and not message["content"].strip():
        raise RowError("empty user turn", where)
    message |= {name: turn[name] for name in EXTRAS if isinstance(turn.get(name), str)}
    if calls:
        message["tool_calls"] = calls
    return message


def _text(content: Json, where: str) -> str:
    if isinstance(content, str):
        return content
    if content is None:
        raise RowError("content is missing", where)
    if isinstance(content, (list, tuple)):
        return "".join(_part(part, where) for part in content)
    raise RowError("content is not text", where)


def _part(part: Json, where: str) -> str:
    if isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    kind = part.get("type") if isinstance(part, dict) else type(part).__name__
    raise RowError("content part is not text", f"{str(kind)[:50]} in {where}")
