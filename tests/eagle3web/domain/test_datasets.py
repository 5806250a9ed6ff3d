"""Imports end as rows that say what happened, and the prompts can be read back."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.exceptions import ValidationError

from eagle3web.domain import datasets
from eagle3web.domain.datasets import (
    begin_import,
    browse_prompts,
    change_dataset,
    default_tokenizer,
    dismiss_import,
    fail_abandoned_imports,
    import_file,
    measure_lengths,
    revision_folder,
    run_import,
)
from eagle3web.enums import RevisionState
from eagle3web.models import AuditEntry, Dataset, DatasetRevision
from pipeline.datasets.demo.source import DemoSource
from pipeline.tokens import PromptTokenizer
from tests.support import factories as make
from tests.support.models import tiny_tokenizer
from tests.support.prompts import CASES, write_lines
from tests.support.system import database_url

pytestmark = pytest.mark.django_db

FILES = CASES / "datasets"


def test_an_import_makes_a_ready_revision_with_its_report(home: Path) -> None:
    ada = make.user("ada")
    row = import_file(FILES / "sharegpt_from_value.json", slug="B1_chat", user=ada, licence="MIT", title="Chat")
    row.refresh_from_db()
    assert (row.state, row.accepted, row.rejected, row.warnings, row.error) == (RevisionState.READY, 2, 3, 1, "")
    assert row.bytes_done == row.bytes_total == (FILES / "sharegpt_from_value.json").stat().st_size
    assert [(problem["id"], problem["reason"]) for problem in row.report["rejections"]] == [
        ("s3", "empty conversation"), ("s4", "no user turn"), ("s5", "no user turn")
    ]  # fmt: skip
    assert (row.dataset.slug, row.dataset.licence, row.dataset.created_by, row.created_by) == ("B1_chat", "MIT", ada, ada)
    assert revision_folder(row) == home / "datasets" / "B1_chat" / row.revision
    assert (revision_folder(row) / "manifest.json").exists()
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.verb, entry.detail) == (ada, "dataset.import", {"file": "sharegpt_from_value.json"})


def test_the_same_prompts_stay_one_ready_row_and_become_the_latest(home: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", {"prompt": "first"})
    first = import_file(source, slug="set", user=None)
    other = import_file(write_lines(tmp_path / "b.jsonl", {"prompt": "other"}), slug="set", user=None)
    again = import_file(source, slug="set", user=None)
    assert again.revision == first.revision != other.revision
    assert list(DatasetRevision.objects.values_list("revision", flat=True)) == [again.revision, other.revision]
    assert Dataset.objects.count() == 1


def test_file_that_is_gone_is_named_without_the_folders_of_this_machine(home: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", {"prompt": "first"})
    row = begin_import(source, slug="set", user=None, name="mine.jsonl")
    source.unlink()
    assert run_import(row, source).error == "mine.jsonl: No such file or directory"


@pytest.mark.parametrize(("name", "error"), [("not_json.jsonl", "no valid row"), ("empty.jsonl", "the file is empty")])
def test_a_file_of_no_use_is_a_failed_row_with_its_reason(home: Path, name: str, error: str) -> None:
    row = import_file(FILES / name, slug="set", user=None)
    row.refresh_from_db()
    assert (row.state, row.revision) == (RevisionState.FAILED, "")
    assert error in row.error
    assert row.rejected == len(row.report["rejections"])


def test_impossible_names_are_refused_before_anything_is_made(home: Path) -> None:
    with pytest.raises(ValidationError):
        import_file(FILES / "roles.jsonl", slug="../up", user=None)
    assert Dataset.objects.count() == DatasetRevision.objects.count() == 0


def test_empty_fields_keep_what_the_dataset_has(home: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "a.jsonl", {"prompt": "hi"})
    import_file(source, slug="set", user=None, licence="MIT", notes="by hand")
    row = import_file(source, slug="set", user=None, licence="", notes="again")
    assert (row.dataset.licence, row.dataset.notes) == ("MIT", "again")


@pytest.mark.parametrize(("every_s", "least"), [(0.0, 3), (60.0, 0)])
def test_progress_is_saved_once_in_a_while(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, every_s: float, least: int
) -> None:
    monkeypatch.setattr(datasets, "SAVE_EVERY_S", every_s)
    source = write_lines(tmp_path / "a.jsonl", *[{"id": i, "prompt": "x" * 4000} for i in range(500)])
    row = begin_import(source, slug="set", user=None)
    seen: set[tuple[int, int]] = set()
    save = datasets._Progress.__call__

    def watched(self: datasets._Progress, done: int, total: int) -> None:
        save(self, done, total)
        stored = DatasetRevision.objects.get(pk=row.pk)
        if stored.bytes_done:
            seen.add((stored.bytes_done, stored.accepted))

    monkeypatch.setattr(datasets._Progress, "__call__", watched)
    run_import(row, source)
    assert len(seen) >= least
    assert bool(seen) is bool(least)
    assert max(accepted for _, accepted in seen | {(0, 0)}) <= 500


def test_an_import_whose_row_is_deleted_stops(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "SAVE_EVERY_S", 0.0)
    source = write_lines(tmp_path / "a.jsonl", {"prompt": "hi"})
    row = begin_import(source, slug="set", user=None)
    DatasetRevision.objects.all().delete()
    ended = run_import(row, source)
    assert (ended.state, ended.error) == (RevisionState.FAILED, "the import was ended by somebody")
    assert DatasetRevision.objects.count() == 0
    assert list((home / "datasets" / "set").iterdir()) == []


def test_an_unexpected_fault_leaves_a_failed_row(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("no idea")

    monkeypatch.setattr(datasets, "import_prompts", broken)
    with pytest.raises(RuntimeError):
        import_file(FILES / "roles.jsonl", slug="set", user=None)
    row = DatasetRevision.objects.get()
    assert (row.state, row.error) == (RevisionState.FAILED, "the import broke: RuntimeError: no idea")


def test_an_import_without_a_process_is_failed_after_a_minute(home: Path) -> None:
    row = begin_import(FILES / "roles.jsonl", slug="set", user=None)
    assert fail_abandoned_imports() == 0
    assert fail_abandoned_imports(datetime.now(UTC) + timedelta(seconds=61)) == 1
    row.refresh_from_db()
    assert (row.state, row.error) == (RevisionState.FAILED, "the import's process is gone")


def test_prompt_lengths_come_from_the_newest_projects_tokenizer(home: Path, tmp_path: Path) -> None:
    make.project(tokenizer=str(tiny_tokenizer(tmp_path / "tokenizer")))
    make.project(tokenizer="/absent")
    row = import_file(FILES / "prompt_only.jsonl", slug="set", user=None)
    assert (row.token_lengths["sampled"], sum(row.token_lengths["counts"])) == (4, 4)
    assert import_file(FILES / "pretokenized.jsonl", slug="ids", user=None).report["reasons"]["token id out of range"] == 3


def test_without_a_readable_tokenizer_nothing_is_measured_until_one_is_there(home: Path, tmp_path: Path) -> None:
    assert default_tokenizer() is None
    row = import_file(FILES / "prompt_only.jsonl", slug="set", user=None)
    assert row.token_lengths == {}
    measure_lengths(row, PromptTokenizer.load(tiny_tokenizer(tmp_path / "tokenizer")))
    row.refresh_from_db()
    assert row.token_lengths["sampled"] == 4


def test_prompts_are_browsed_in_pages_and_by_search(home: Path) -> None:
    row = import_file(FILES / "prompt_only.jsonl", slug="set", user=None)
    page = browse_prompts(row, offset=1, limit=2)
    assert [prompt.messages[0]["content"] for prompt in page.prompts] == [
        "What is a monad?\n\nGive an example in Haskell.",
        "A train leaves at 9...",
    ]
    assert page.next_offset == 3
    assert len(browse_prompts(row, search="HASKELL").prompts) == 1


def test_a_demo_dataset_is_imported_once(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": "a", "prompt": "hi"}]
    source = DemoSource(slug="B1_x", title="X", package="pytest", licence="MIT", notes="n", read=lambda: iter(rows))
    monkeypatch.setattr(datasets, "demo_sources", lambda: (source,))
    (first,) = datasets.import_demo(home, user=None)
    (again,) = datasets.import_demo(home, user=None)
    assert (again.pk, first.accepted, first.state) == (first.pk, 1, RevisionState.READY)
    dataset = Dataset.objects.get()
    assert (dataset.licence, dataset.package, dataset.package_version) == ("MIT", "pytest", pytest.__version__)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_process_of_its_own_carries_out_what_was_begun(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = tmp_path / "upload"
    source.write_bytes((FILES / "openai_messages.jsonl").read_bytes())
    row = begin_import(source, slug="set", user=None, name="mine.jsonl")
    monkeypatch.setenv("DATABASE_URL", database_url())
    datasets.import_in_background(row, source, remove=True)
    deadline = datetime.now(UTC) + timedelta(seconds=60)
    while row.state == RevisionState.IMPORTING or source.exists():
        assert datetime.now(UTC) < deadline, (home / "imports.log").read_text()
        row.refresh_from_db()
    assert (row.state, row.accepted, row.file_name) == (RevisionState.READY, 2, "mine.jsonl")


def test_what_is_said_about_a_dataset_is_changed_and_recorded() -> None:
    ada, dataset = make.user("ada"), make.dataset(slug="B1", title="Old")
    change_dataset(dataset, user=ada, title="New", licence=dataset.licence)
    change_dataset(dataset, user=ada, title="New")
    dataset.refresh_from_db()
    entry = AuditEntry.objects.get()
    assert (dataset.title, entry.verb) == ("New", "dataset.change")
    assert entry.detail == {"slug": "B1", "changes": {"title": ["Old", "New"]}}
    with pytest.raises(ValidationError):
        change_dataset(dataset, user=ada, title="x" * 201)


@pytest.mark.parametrize("has_budget", [True, False])
def test_dismissed_import_takes_a_dataset_along_that_has_nothing_else(has_budget: bool) -> None:
    row = make.revision(state=RevisionState.FAILED, revision="")
    if has_budget:
        make.budget(to=row.dataset)
    kept = dismiss_import(row, user=None)
    assert (kept == row.dataset, Dataset.objects.count(), DatasetRevision.objects.count()) == (has_budget, has_budget, 0)


def test_import_that_did_not_fail_is_not_dismissed() -> None:
    row = make.revision()
    assert dismiss_import(row, user=None) == row.dataset
    assert (DatasetRevision.objects.get(), AuditEntry.objects.count()) == (row, 0)
