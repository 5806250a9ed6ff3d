import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pipeline.artifacts import sha256_file
from pipeline.datasets.conversation import read_prompts
from pipeline.datasets.report import ValidationReport
from pipeline.datasets.revision import Origin, RefusedImportError, import_prompts, read_manifest
from pipeline.errors import DataError
from tests.support.prompts import CASES, write_lines

ROWS = [{"id": 1, "prompt": "first"}, {"id": 2, "prompt": "second"}, {"id": 2, "prompt": ""}]


def test_an_import_leaves_prompts_manifest_and_report(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", *ROWS)
    origin = Origin(title="A set", licence="MIT", source="by hand")
    made = import_prompts(source, home=tmp_path / "home", slug="B1_set", origin=origin)
    assert made.folder == tmp_path / "home" / "datasets" / "B1_set" / made.revision
    assert [prompt.id for prompt in read_prompts(made.prompts)] == ["1", "2"]
    assert made.revision == sha256_file(made.prompts)[:12]
    manifest = read_manifest(made.folder)
    assert manifest | {"created": ""} == {
        "kind": "dataset", "slug": "B1_set", "revision": made.revision, "sha256": sha256_file(made.prompts),
        "count": 2, "bytes": made.prompts.stat().st_size, "accepted": 2, "rejected": 1,
        "source_file": {"file": "a.jsonl", "bytes": source.stat().st_size, "sha256": sha256_file(source)},
        "title": "A set", "licence": "MIT", "source": "by hand", "package": "", "package_version": "", "notes": "",
        "created": "",
    }  # fmt: skip
    report = json.loads((made.folder / "report.json").read_text())
    assert [(row["line"], row["id"], row["reason"]) for row in report["rejections"]] == [(3, "2", "empty prompt")]
    assert sorted(path.name for path in made.folder.iterdir()) == [
        "manifest.json", "offsets.bin", "prompts.jsonl", "report.json"
    ]  # fmt: skip


def test_the_same_prompts_are_the_same_revision_whatever_the_file(tmp_path: Path) -> None:
    first = import_prompts(write_lines(tmp_path / "a.jsonl", *ROWS), home=tmp_path, slug="set")
    chats = [{"id": row["id"], "messages": [{"role": "User", "content": row["prompt"]}]} for row in ROWS[:2]]
    second = import_prompts(write_lines(tmp_path / "b.jsonl", *chats), home=tmp_path, slug="set")
    assert (first.revision, first.existed) == (second.revision, False)
    assert second.existed
    assert [path.name for path in (tmp_path / "datasets" / "set").iterdir()] == [first.revision]


def test_a_file_without_a_valid_row_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RefusedImportError, match="no valid row") as caught:
        import_prompts(CASES / "datasets" / "not_json.jsonl", home=tmp_path, slug="set")
    assert caught.value.report.rejected == 3
    assert list((tmp_path / "datasets" / "set").iterdir()) == []


@pytest.mark.parametrize("slug", ["", "../up", "a/b", ".hidden", "a b", "x" * 81, "a\0b"])
def test_a_name_that_could_leave_the_folder_is_refused(tmp_path: Path, slug: str) -> None:
    with pytest.raises(DataError, match="cannot be a dataset's name"):
        import_prompts(write_lines(tmp_path / "a.jsonl", *ROWS), home=tmp_path / "home", slug=slug)
    assert not (tmp_path / "home").exists()


def test_a_half_made_revision_is_replaced_and_an_abandoned_folder_removed(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", *ROWS)
    made = import_prompts(source, home=tmp_path, slug="set")
    (made.folder / "manifest.json").unlink()
    abandoned = made.folder.parent / ".importing-old"
    abandoned.mkdir()
    os.utime(abandoned, (time.time() - 48 * 3600,) * 2)
    again = import_prompts(source, home=tmp_path, slug="set")
    assert not again.existed
    assert read_manifest(again.folder)["count"] == 2
    assert not abandoned.exists()


def test_a_caller_can_watch_the_counts(tmp_path: Path) -> None:
    report = ValidationReport()
    seen: list[tuple[int, int, int]] = []

    def progress(done: int, total: int) -> None:
        seen.append((done, total, report.accepted))

    source = write_lines(tmp_path / "a.jsonl", *ROWS)
    import_prompts(source, home=tmp_path, slug="set", report=report, progress=progress)
    size = source.stat().st_size
    assert seen[0] == (size, size, 0)
    assert report.accepted == 2


def test_a_folder_without_a_manifest_is_no_revision(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="is not a dataset revision"):
        read_manifest(tmp_path)


MEASURE = """
import re, sys
from pathlib import Path
from pipeline.datasets.revision import import_prompts
made = import_prompts(Path(sys.argv[1]), home=Path(sys.argv[2]), slug="big")
print(made.count, re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.slow
@pytest.mark.parametrize("container", ["big.jsonl", "big.json"])
def test_memory_does_not_grow_with_the_file(tmp_path: Path, container: str) -> None:
    rows = [json.dumps({"id": i, "prompt": f"{i} " + "x" * 20_000}) for i in range(5000)]
    text = "[" + ",\n".join(rows) + "]" if container == "big.json" else "\n".join(rows)
    (tmp_path / container).write_text(text)
    command = [sys.executable, "-c", MEASURE, str(tmp_path / container), str(tmp_path / "home")]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    count, kilobytes = map(int, done.stdout.split())
    assert count == 5000
    assert kilobytes < 60_000  # of 100 MB
