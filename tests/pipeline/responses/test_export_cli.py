import json
import subprocess
import sys
from pathlib import Path

from tests.support.answers import answer


def export(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pipeline", "export-responses", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_export_says_what_it_wrote_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "part-00001.jsonl").write_bytes(answer(1).to_line() + answer(2, finish_reason="length").to_line())
    done = export(str(tmp_path), str(tmp_path / "out.jsonl"))
    assert (done.returncode, done.stdout) == (0, f"1 conversations in {tmp_path / 'out.jsonl'}\n1 cut answers left out\n")
    assert json.loads((tmp_path / "out.jsonl").read_text())["id"] == "row-1"


def test_export_of_a_folder_without_answers_is_refused(tmp_path: Path) -> None:
    done = export(str(tmp_path), str(tmp_path / "out.jsonl"))
    assert (done.returncode, done.stderr) == (1, f"error: {tmp_path} holds no part-*.jsonl\n")
