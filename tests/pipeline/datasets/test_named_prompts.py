import json
from pathlib import Path

import pytest

from pipeline.datasets.named_prompts import named_prompts
from pipeline.datasets.revision import RefusedImportError, import_prompts


def prompts(path: Path) -> Path:
    path.write_text(json.dumps({"prompt": "hello"}) + "\n")
    return path


def test_file_is_imported_under_a_name_made_of_its_own(tmp_path: Path) -> None:
    found = named_prompts(str(prompts(tmp_path / "my prompts.v2.jsonl")), home=tmp_path / "home")
    assert (found.slug, found.count, found.prompts.name) == ("my_prompts", 1, "prompts.jsonl")
    assert found.prompts.is_relative_to(tmp_path / "home" / "datasets" / "my_prompts" / found.revision)


def test_name_may_be_given(tmp_path: Path) -> None:
    assert named_prompts(f"B1={prompts(tmp_path / 'p')}", home=tmp_path / "home").slug == "B1"


def test_imported_revision_keeps_its_name_and_place(tmp_path: Path) -> None:
    revision = import_prompts(prompts(tmp_path / "p.jsonl"), home=tmp_path / "home", slug="B7")
    found = named_prompts(str(revision.prompts), home=tmp_path / "other")
    assert (found.slug, found.revision, found.prompts, found.count) == ("B7", revision.revision, revision.prompts, 1)
    assert not (tmp_path / "other").exists()


def test_file_without_a_prompt_is_refused(tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text("nonsense\n")
    with pytest.raises(RefusedImportError):
        named_prompts(str(tmp_path / "p.jsonl"), home=tmp_path / "home")
