"""Alpaca's `{"instruction", "input"?, "output"?, "system"?, "history"?: [[question, answer], …]}`.

The output is an old answer and no part of the prompt.
"""

from typing import Any

from pipeline.datasets.formats.draft import Draft, Message, Row
from pipeline.datasets.report import RowError

FIELDS = ("instruction",)


def read(row: Row) -> Draft:
    instruction, context = row["instruction"], row.get("input")
    if not isinstance(instruction, str):
        raise RowError("instruction is not text")
    if not instruction.strip():
        raise RowError("empty instruction")
    if context is not None and not isinstance(context, str):
        raise RowError("input is not text")
    messages = [turn for pair in row.get("history") or () for turn in _exchange(pair)]
    messages.append({"role": "user", "content": f"{instruction}\n\n{context}" if context else instruction})
    system = row.get("system")
    if isinstance(system, str) and system.strip():
        messages.insert(0, {"role": "system", "content": system})
    return Draft(messages=messages)


def _exchange(pair: Any) -> list[Message]:  # noqa: ANN401  (any JSON value)
    match pair:
        case [str(question), str(answer)]:
            return [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    raise RowError("history is not a list of question and answer")
