"""Datasets over the API: imported by path, and what validation found."""

from pathlib import Path

import pytest
from pytest_django import Settings

from eagle3web.enums import Role
from eagle3web.models import DatasetRevision
from tests.support import factories as make
from tests.support.api import Caller, caller
from tests.support.servers import wait_until
from tests.support.system import System


@pytest.fixture
def root(tmp_path: Path, settings: Settings) -> Path:
    settings.EAGLE3_IMPORT_ROOT = tmp_path / "imports"
    (tmp_path / "imports").mkdir()
    (tmp_path / "secret.jsonl").write_text("{}\n")
    return tmp_path / "imports"


@pytest.fixture
def api(db: None) -> Caller:
    return caller("ada", Role.OPERATOR)


def test_revisions_and_report_are_shown(api: Caller) -> None:
    revision = make.revision(make.dataset(slug="B1_glaive"))
    assert [row["slug"] for row in api.get("/api/datasets", q="glaive").json()["items"]] == ["B1_glaive"]
    (row,) = api.get("/api/datasets/B1_glaive/revisions").json()["items"]
    assert (row["id"], row["state"], row["accepted"], row["rejected"]) == (revision.pk, "ready", 1000, 2)
    report = api.get(f"/api/datasets/B1_glaive/revisions/{revision.pk}").json()
    assert report["report"]["rejections"] == [{"file": "prompts.jsonl", "line": 7, "id": "p-7", "reason": "no user turn"}]


def test_revision_belongs_to_its_dataset(api: Caller) -> None:
    revision, other = make.revision(), make.dataset(slug="other")
    assert api.get(f"/api/datasets/{other.slug}/revisions/{revision.pk}").status_code == 404


@pytest.mark.parametrize("path", ["../secret.jsonl", "/etc/passwd", "nothing.jsonl", ".", "a\x00b", "\ud800"])
def test_paths_outside_the_root_are_refused(api: Caller, root: Path, path: str) -> None:
    answer = api.post("/api/datasets/import", {"slug": "B1", "path": path})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "path")
    assert str(root.parent) not in answer.json()["detail"]
    assert DatasetRevision.objects.count() == 0


def test_link_out_of_the_root_is_refused(api: Caller, root: Path) -> None:
    (root / "link.jsonl").symlink_to(root.parent / "secret.jsonl")
    assert api.post("/api/datasets/import", {"slug": "B1", "path": "link.jsonl"}).status_code == 422


@pytest.mark.slow
def test_import_by_path_ends_ready(bare_system: System, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import's own process is started as in real life, over the test's database."""
    for name, value in bare_system.env.items():
        monkeypatch.setenv(name, value)
    api = caller("ada", Role.OPERATOR)
    (root / "chat.jsonl").write_text('{"messages": [{"role": "user", "content": "Why is the sky blue?"}]}\nnot json\n')
    answer = api.post("/api/datasets/import", {"slug": "B1_chat", "path": "chat.jsonl", "licence": "MIT"})
    assert (answer.status_code, answer.json()["state"]) == (202, "importing")
    path = f"/api/datasets/B1_chat/revisions/{answer.json()['id']}"
    wait_until(lambda: api.get(path).json()["state"] != "importing", "the import ends", 60)
    row = api.get(path).json()
    assert (row["state"], row["accepted"], row["rejected"], row["error"]) == ("ready", 1, 1, "")
