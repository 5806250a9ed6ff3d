"""Which bytes may be imported: nothing outside the root, nothing larger than the limit."""

from pathlib import Path

import pytest
from pytest_django import Settings

from eagle3web.domain.import_files import ImportRefused, importable_files, path_below_root, save_upload, shown_name


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    folder = tmp_path / "imports"
    (folder / "team").mkdir(parents=True)
    (folder / "team" / "chat.jsonl").write_text("{}")
    (tmp_path / "secret.jsonl").write_text("{}")
    settings.EAGLE3_IMPORT_ROOT = folder
    return folder


def test_a_file_below_the_root_is_found_by_either_path(root: Path) -> None:
    assert path_below_root("team/chat.jsonl") == root / "team" / "chat.jsonl"
    assert path_below_root(f" {root}/team/../team/chat.jsonl ") == root / "team" / "chat.jsonl"


@pytest.mark.parametrize(
    "text",
    ["", ".", "team", "absent.jsonl", "../secret.jsonl", "team/../../secret.jsonl", "/etc/passwd", "a\0b", "~/x", "x" * 5000],
)
def test_everything_else_gets_one_answer(root: Path, text: str) -> None:
    with pytest.raises(ImportRefused, match="There is no such file below the import folder"):
        path_below_root(text)


def test_links_that_leave_the_root_are_refused(root: Path) -> None:
    (root / "file").symlink_to(root.parent / "secret.jsonl")
    (root / "folder").symlink_to(root.parent)
    (root / "inside").symlink_to(root / "team" / "chat.jsonl")
    (root / "loop").symlink_to(root / "loop")
    for text in ("file", "folder/secret.jsonl", "loop"):
        with pytest.raises(ImportRefused):
            path_below_root(text)
    assert path_below_root("inside") == root / "team" / "chat.jsonl"


def test_the_files_on_offer_are_named_from_the_root(root: Path) -> None:
    (root / "b.json").write_text("[]")
    (root / ".hidden").write_text("")
    (root / "link").symlink_to(root.parent / "secret.jsonl")
    assert importable_files() == ["b.json", "team/chat.jsonl"]
    assert importable_files(most=1) == ["b.json"]


def test_a_missing_root_offers_nothing(tmp_path: Path, settings: Settings) -> None:
    settings.EAGLE3_IMPORT_ROOT = tmp_path / "absent"
    assert importable_files() == []


def test_an_upload_is_stored_up_to_the_limit(home: Path, settings: Settings) -> None:
    settings.EAGLE3_UPLOAD_LIMIT = 10
    assert save_upload([b"12345", b"67890"]).read_bytes() == b"1234567890"
    with pytest.raises(ImportRefused, match="larger than"):
        save_upload([b"12345", b"678901"])
    assert len(list((home / "uploads").iterdir())) == 1


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a/b/c.jsonl", "c.jsonl"),
        ("C:\\x\\c.jsonl", "c.jsonl"),
        ("a\x1b[31m\n.json", "a�[31m�.json"),
        ("é" * 400, "é" * 300),
    ],
)
def test_a_name_is_only_a_label(name: str, shown: str) -> None:
    assert shown_name(name) == shown
