import json
from pathlib import Path

import pytest

from pipeline.errors import DataError
from pipeline.responses.export import Exported, export_conversations
from tests.support.answers import answer


def write(folder: Path, *answers: bytes) -> Path:
    (folder / "part-00001.jsonl").write_bytes(b"".join(answers))
    return folder


def test_export_writes_conversations_and_leaves_cut_answers_out(tmp_path: Path) -> None:
    tools = ({"type": "function", "function": {"name": "f"}},)
    write(
        tmp_path,
        answer(1, text="<think>hm</think>yes", tools=tools).to_line(),
        answer(2, finish_reason="length").to_line(),
        answer(3, messages=()).to_line(),
        answer(4, id="").to_line(),
    )
    exported = export_conversations(tmp_path, tmp_path / "out.jsonl")
    assert exported == Exported(written=2, truncated=1, without_messages=1)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert rows == [
        {
            "id": "row-1",
            "conversations": [
                {"role": "user", "content": "question 1"},
                {"role": "assistant", "content": "<think>hm</think>yes"},
            ],
            "tools": list(tools),
        },
        {
            "id": f"{4:016x}",
            "conversations": [{"role": "user", "content": "question 4"}, {"role": "assistant", "content": "answer 4"}],
        },
    ]
    assert export_conversations(tmp_path, tmp_path / "all.jsonl", include_truncated=True).written == 3


def test_export_that_fails_leaves_no_file(tmp_path: Path) -> None:
    write(tmp_path, answer(1).to_line(), b"broken\n")
    with pytest.raises(DataError, match="line 2"):
        export_conversations(tmp_path, tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["part-00001.jsonl"]
