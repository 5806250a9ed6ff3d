import argparse
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline import validate_cli
from tests.support.models import tiny_tokenizer
from tests.support.prompts import CASES, write_lines

FILES = CASES / "datasets"


def run(*arguments: str | Path) -> int:
    parser = argparse.ArgumentParser()
    validate_cli.add_arguments(parser)
    return validate_cli.run(parser.parse_args([str(argument) for argument in arguments]))


def test_json_names_file_line_id_and_reason(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FILES / "tool_calls.jsonl", "--json") == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["accepted"], report["rejected"], report["warnings"]) == (2, 1, [])
    assert "error" not in report
    (rejection,) = report["rejections"]
    assert {name: rejection[name] for name in ("file", "line", "id", "reason")} == {
        "file": "tool_calls.jsonl",
        "line": 3,
        "id": "t3",
        "reason": "tools is not valid JSON",
    }


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("empty.jsonl", "the file is empty"),
        ("not_json.jsonl", "no valid row"),
        ("absent.jsonl", "there is no file "),
        ("", "is a folder; name one file"),
    ],
)
def test_a_file_of_no_use_ends_with_status_one(name: str, error: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(FILES / name, "--json") == 1
    said = json.loads(capsys.readouterr().out)["error"]
    assert error in said
    assert "Errno" not in said


def test_text_is_readable_and_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_lines(tmp_path / "a.jsonl", {"prompt": "hi"}, *[{"id": "\x1b[31m", "messages": [{"role": "\x07wizard"}]}] * 3)
    assert run(path, "--limit", "2") == 0
    assert capsys.readouterr().out.splitlines() == [
        "a.jsonl: 1 accepted (1 plain), 3 rejected",
        "         3 × unknown role",
        "rejected:",
        r"  line 2 (id \x1b[31m): unknown role: '\x07wizard' in messages[0]",
        r"  line 3 (id \x1b[31m): unknown role: '\x07wizard' in messages[0]",
        "  … and 1 more",
    ]


def test_a_vocabulary_bounds_token_ids(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = FILES / "pretokenized.jsonl"
    assert run(path, "--json", "--vocab-size", "200") == 1
    assert json.loads(capsys.readouterr().out)["reasons"]["token id out of range"] == 3
    folder = tiny_tokenizer(tmp_path)
    assert run(path, "--json", "--tokenizer", folder) == 1
    assert json.loads(capsys.readouterr().out)["warnings"] == []
    assert run(path, "--json", "--tokenizer", tmp_path / "absent") == 1
    assert "holds no tokenizer.json" in json.loads(capsys.readouterr().out)["error"]


def test_at_a_terminal_it_draws_progress() -> None:
    ours, theirs = pty.openpty()
    code = "import sys, argparse; from pipeline import validate_cli as c; p = argparse.ArgumentParser(); c.add_arguments(p); "
    code += "sys.exit(c.run(p.parse_args(sys.argv[1:])))"
    command = [sys.executable, "-c", code, str(FILES / "roles.jsonl"), "--json"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=theirs, env=os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    )
    try:
        output, _ = process.communicate(timeout=60)
        os.close(theirs)
        drawn = os.read(ours, 1 << 16).decode()
    finally:
        process.kill()
        os.close(ours)
    assert process.returncode == 0
    assert json.loads(output)["accepted"] == 2
    assert "reading roles.jsonl" in drawn
