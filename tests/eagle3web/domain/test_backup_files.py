"""Every file of the kept folders but hidden states, and no link without a word."""

from pathlib import Path

import pytest

from eagle3web.domain.backup_files import Content, copy_new, differing, take_inventory


def put(path: Path, text: str = "x\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_only_hidden_states_of_projects_are_left_out(home: Path) -> None:
    for name in (
        "imports/any/hidden/a.jsonl", "datasets/any/hidden/b.jsonl", "projects/k2/hidden/7/c.bin", "projects/k2/x/hidden/d.bin",
        "projects/k2/checkpoints/7/e.bin", "runs/1/attempts/1/log.txt", "uploads/f.jsonl", "secret_key",
    ):  # fmt: skip
        put(home / name)
    assert take_inventory(home).files == [
        "datasets/any/hidden/b.jsonl", "projects/k2/checkpoints/7/e.bin", "projects/k2/x/hidden/d.bin",
        "runs/1/attempts/1/log.txt", "imports/any/hidden/a.jsonl", "secret_key",
    ]  # fmt: skip


def test_links_to_other_disks_are_followed_and_named(home: Path, tmp_path: Path) -> None:
    big = put(tmp_path / "big" / "checkpoints" / "7" / "a.bin").parent.parent.parent
    (home / "projects").mkdir()
    (home / "projects" / "k2").symlink_to(big)
    (home / "imports").symlink_to(put(tmp_path / "imports" / "b.jsonl").parent)
    found = take_inventory(home)
    assert found.files == ["projects/k2/checkpoints/7/a.bin", "imports/b.jsonl"]
    assert (found.followed, found.left_out) == ([f"projects/k2 → {big}"], [])


def test_links_that_lead_back_around_or_nowhere_are_left_out_and_named(home: Path, tmp_path: Path) -> None:
    put(home / "datasets" / "a" / "a.jsonl")
    put(tmp_path / "backup" / "home" / "datasets" / "old.jsonl")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "loop").symlink_to(elsewhere)
    for name, to in {"b": home / "datasets" / "a", "c": tmp_path, "d": tmp_path / "gone", "e": elsewhere}.items():
        (home / "datasets" / name).symlink_to(to)
    (home / "datasets" / "f").symlink_to(tmp_path / "backup")
    found = take_inventory(home, beside=[tmp_path / "backup"])
    assert found.files == ["datasets/a/a.jsonl"]
    assert found.followed == [f"datasets/e → {elsewhere}"]
    assert found.left_out == [
        f"datasets/b → {home}/datasets/a",
        f"datasets/c → {tmp_path}",
        f"datasets/d → {tmp_path}/gone",
        f"datasets/e/loop → {elsewhere}",
        f"datasets/f → {tmp_path}/backup",
    ]


@pytest.fixture
def places(home: Path, tmp_path: Path) -> tuple[Path, Path]:
    for name in ("kept", "incoming"):
        (tmp_path / name).mkdir()
    return tmp_path / "kept", tmp_path / "incoming"


def test_what_is_kept_already_is_not_copied(home: Path, places: tuple[Path, Path]) -> None:
    kept, incoming = places
    put(home / "datasets" / "a.jsonl")
    first = copy_new(home, ["datasets/a.jsonl"], incoming, kept, {})
    put(home / "datasets" / "b.jsonl", "new\n")
    put(incoming / "datasets" / "a.jsonl", "of a call that was interrupted\n")
    again = copy_new(home, ["datasets/a.jsonl", "datasets/b.jsonl", "datasets/gone.jsonl"], kept, incoming, first)
    assert again == first | {"datasets/b.jsonl": Content.of(home / "datasets" / "b.jsonl")}
    assert [path.name for path in incoming.rglob("*") if path.is_file()] == ["b.jsonl"]


def test_differing_names_what_is_missing_cut_or_changed(tmp_path: Path) -> None:
    contents = {name: Content.of(put(tmp_path / name, "four\n")) for name in ("a", "b", "c", "d")}
    (tmp_path / "b").unlink()
    put(tmp_path / "c", "fo")
    put(tmp_path / "d", "fuor\n")
    assert list(differing(tmp_path, contents)) == [
        "b is missing",
        "c has 2 bytes instead of 5",
        "d has other bytes than were written",
    ]
