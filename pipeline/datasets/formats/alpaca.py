"""Alpaca's `{"instruction", "input"?, "output"?, "system"?, "history"?: [[question, answer], …]}`.

The output is an old answer and no part of the prompt.
"""

from pipeline.datasets.formats.draft import Draft, Message, Row
from pipeline.datasets.json_value import Json
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
    messages = _history(row.get("history") or [])
    messages.append({"role": "user", "content": f"{instruction}\n\n{context}" if context else instruction})
    system = row.get("system")
    if isinstance(system, str) and system.strip():
        messages.insert(0, {"role": "system", "content": system})
    return Draft(messages=messages)


def _history(pairs: Json) -> list[Message]:
    messages: list[Message] = []
    for pair in pairs if isinstance(pairs, list) else [pairs]:
        match pair:
            case [str(question), str(answer)]:
                messages += [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
            case _:
                raise RowError("history is not a list of question and answer")
    return messages
