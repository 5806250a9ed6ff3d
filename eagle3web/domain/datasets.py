"""Datasets: imported, browsed and measured here. The prompts lie in files; the rows say which and what validation found."""

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypedDict, Unpack

from django.conf import settings
from django.db import OperationalError, transaction

from eagle3web.domain.audit import record
from eagle3web.domain.clock import database_now
from eagle3web.domain.import_files import shown_name
from eagle3web.domain.launch import environment
from eagle3web.enums import RevisionState
from eagle3web.models import Dataset, DatasetRevision, Project, User
from pipeline.artifact_store import ArtifactStore
from pipeline.artifacts import Home
from pipeline.datasets.demo.catalogue import demo_sources
from pipeline.datasets.demo.source import import_demo_source
from pipeline.datasets.paging import PromptPage, read_page
from pipeline.datasets.report import ValidationReport
from pipeline.datasets.revision import ImportedRevision, Origin, import_prompts
from pipeline.errors import DataError, PipelineError
from pipeline.prompt_lengths import measure_prompts
from pipeline.tokens import PromptTokenizer

SAVE_EVERY_S = 1.0
ABANDONED_AFTER = timedelta(seconds=60)
SHOWN_PROBLEMS = 100
"""Rejections and warnings kept in the row; report.json beside the prompts has more."""


class DatasetFields(TypedDict, total=False):
    """What a person may say about a dataset."""

    title: str
    licence: str
    source: str
    notes: str


class ImportCancelled(Exception):  # noqa: N818  (an outcome, like Django's DoesNotExist)
    """Somebody deleted or ended the row of a running import."""


def import_file(
    path: Path,
    *,
    slug: str,
    user: User | None,
    name: str = "",
    tokenizer: PromptTokenizer | None = None,
    **fields: Unpack[DatasetFields],
) -> DatasetRevision:
    """Import a file from start to end; the row is `ready`, or `failed` with its reason.

    `name` is the file's name where it lies under another one. Raises ValidationError for impossible fields.
    """
    revision = begin_import(path, slug=slug, user=user, name=name, **fields)
    return run_import(revision, path, tokenizer=tokenizer)


def begin_import(
    path: Path, *, slug: str, user: User | None, name: str = "", **fields: Unpack[DatasetFields]
) -> DatasetRevision:
    """Make the row that shows an import's progress, and the dataset when it is new; given fields replace those of an old one.

    Raises ValidationError by field, OSError when the file is not there.
    """
    with transaction.atomic():
        dataset = Dataset.objects.select_for_update().filter(slug=slug).first() or Dataset(slug=slug, created_by=user)
        for field, value in fields.items():
            if value:
                setattr(dataset, field, value)
        dataset.full_clean()
        dataset.save()
        revision = DatasetRevision.objects.create(
            dataset=dataset,
            file_name=shown_name(name or path.name),
            bytes_total=path.stat().st_size,
            report=_heard(),
            created_by=user,
        )
        record(user, "dataset.import", dataset, file=revision.file_name)
    return revision


def change_dataset(dataset: Dataset, *, user: User | None, **changes: Unpack[DatasetFields]) -> Dataset:
    """Change what is said about a dataset; its revisions keep the manifests that they were imported with.

    Raises ValidationError by field.
    """
    moved = {name: [getattr(dataset, name), value] for name, value in changes.items() if getattr(dataset, name) != value}
    if not moved:
        return dataset
    for name, (_old, new) in moved.items():
        setattr(dataset, name, new)
    with transaction.atomic():
        dataset.full_clean()
        dataset.save(update_fields=list(moved))
        record(user, "dataset.change", dataset, slug=dataset.slug, changes=moved)
    return dataset


def dismiss_import(revision: DatasetRevision, *, user: User | None) -> Dataset | None:
    """Forget an import that failed. A dataset that nobody has a budget for and that has no other import goes with it.

    Returns the dataset while it stands. An import that did not fail stays.
    """
    dataset = revision.dataset
    with transaction.atomic():
        gone, _ = DatasetRevision.objects.filter(pk=revision.pk, state=RevisionState.FAILED).delete()
        if not gone:
            return dataset
        record(user, "dataset.dismiss_import", dataset, slug=dataset.slug, file=revision.file_name)
        if needed_without(revision):
            return dataset
        dataset.delete()
    return None


def needed_without(revision: DatasetRevision) -> bool:
    """Whether the dataset has another import than this one, or a budget."""
    dataset = revision.dataset
    return dataset.budgets.exists() or dataset.revisions.exclude(pk=revision.pk).exists()


def import_in_background(revision: DatasetRevision, path: Path, *, remove: bool) -> None:
    """Carry out a begun import in a process of its own, since a large file takes minutes. `remove` deletes it afterwards."""
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "import_dataset", str(path)]
    command += ["--revision", str(revision.pk), *(["--remove"] if remove else [])]
    with (Path(settings.EAGLE3_HOME) / "imports.log").open("ab") as log:
        process = subprocess.Popen(
            command,
            cwd=settings.BASE_DIR,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    # Nobody needs its exit; waiting for it only keeps it from staying a zombie.
    threading.Thread(target=process.wait, name=f"reap {process.pid}", daemon=True).start()


def run_import(revision: DatasetRevision, path: Path, *, tokenizer: PromptTokenizer | None = None) -> DatasetRevision:
    """Carry out a begun import. An older row with the same prompts gives way to this one, so that a revision has one row.

    Without a tokenizer, prompt lengths are measured with that of the newest project, where there is one.
    """
    dataset = revision.dataset
    report = ValidationReport()
    progress = _Progress(revision, report)
    try:
        tokenizer = tokenizer or default_tokenizer()
        imported = import_prompts(
            path,
            home=Path(settings.EAGLE3_HOME),
            slug=dataset.slug,
            name=revision.file_name,
            origin=_origin(dataset),
            vocab_size=tokenizer.vocab_size if tokenizer else None,
            progress=progress,
            report=report,
        )
        lengths = measure_prompts(imported.folder, imported.count, tokenizer) if tokenizer else {}
        _publish(imported.folder)
    except (PipelineError, OSError, ImportCancelled) as error:
        return _fail(revision, _in_words(error, revision), report)
    except BaseException as error:
        _fail(revision, f"the import broke: {type(error).__name__}: {error}", report)
        raise
    return _finish(revision, imported, lengths)


def _publish(folder: Path) -> None:
    """Hand the prompts to hosts whose disks are their own. Raises ConfigError, OSError."""
    if settings.EAGLE3_ARTIFACTS:
        name = str(folder.relative_to(settings.EAGLE3_HOME))
        ArtifactStore(settings.EAGLE3_ARTIFACTS).publish(folder, name, host=settings.EAGLE3_HOST)


def import_demo(home: Path, *, user: User | None) -> Iterator[DatasetRevision]:
    """Import the demo's eight datasets one by one; those that stand already are not imported again. Raises ConfigError."""
    for source in demo_sources():
        imported = import_demo_source(source, home)
        known = DatasetRevision.objects.filter(
            dataset__slug=source.slug, revision=imported.revision, state=RevisionState.READY
        ).first()
        yield known or _record_demo(imported, source.origin, user)


def measure_lengths(revision: DatasetRevision, tokenizer: PromptTokenizer) -> None:
    """Measure a ready revision's prompts again, with another tokenizer. Raises OSError when its files are gone."""
    revision.token_lengths = measure_prompts(revision_folder(revision), revision.accepted, tokenizer)
    revision.save(update_fields=["token_lengths"])


def browse_prompts(revision: DatasetRevision, *, offset: int = 0, limit: int = 50, search: str = "") -> PromptPage:
    """A page of a ready revision's prompts, as untrusted text. Raises OSError when its files are gone, DataError."""
    return read_page(revision_folder(revision), offset=offset, limit=limit, search=search)


def revision_folder(revision: DatasetRevision) -> Path:
    """Where a ready revision's files lie."""
    return Home(Path(settings.EAGLE3_HOME)).dataset(revision.dataset.slug, revision.revision)


def fail_abandoned_imports(now: datetime | None = None) -> int:
    """Fail imports that have said nothing for a minute: their process is gone. Returns how many."""
    limit = (now or database_now()) - ABANDONED_AFTER
    importing = DatasetRevision.objects.filter(state=RevisionState.IMPORTING)
    silent = [row.pk for row in importing if _heard_at(row) < limit]
    return importing.filter(pk__in=silent).update(state=RevisionState.FAILED, error="the import's process is gone")


def default_tokenizer() -> PromptTokenizer | None:
    """The tokenizer of the newest project whose folder can be read here."""
    for folder in Project.objects.order_by("-id").values_list("tokenizer", flat=True)[:5]:
        with contextlib.suppress(DataError):
            return PromptTokenizer.load(Path(folder))
    return None


class _Progress:
    """Saves an import's counts at most once a second; a database that is away for a moment costs a number, not the import."""

    def __init__(self, revision: DatasetRevision, report: ValidationReport) -> None:
        self._importing = DatasetRevision.objects.filter(pk=revision.pk, state=RevisionState.IMPORTING)
        self._report = report
        self._saved = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() - self._saved < SAVE_EVERY_S:
            return
        self._saved = time.monotonic()
        counts = {"accepted": self._report.accepted, "rejected": self._report.rejected, "warnings": self._report.warned}
        try:
            saved = self._importing.update(bytes_done=done, bytes_total=total, report=_heard(), **counts)
        except OperationalError:
            return
        if not saved:
            raise ImportCancelled("the import was ended by somebody")


def _record_demo(imported: ImportedRevision, origin: Origin, user: User | None) -> DatasetRevision:
    fields = {"title": origin.title, "licence": origin.licence, "source": origin.source, "notes": origin.notes}
    package = {"package": origin.package, "package_version": origin.package_version}
    with transaction.atomic():
        dataset, _ = Dataset.objects.update_or_create(
            slug=imported.slug, defaults=fields | package, create_defaults=fields | package | {"created_by": user}
        )
        revision = DatasetRevision.objects.create(
            dataset=dataset, file_name=origin.source, bytes_total=imported.bytes, created_by=user
        )
        record(user, "dataset.import", dataset, file=origin.source)
    return _finish(revision, imported, {})


def _finish(revision: DatasetRevision, imported: ImportedRevision, lengths: dict[str, Any]) -> DatasetRevision:
    with transaction.atomic():
        same = DatasetRevision.objects.filter(dataset=revision.dataset, revision=imported.revision, state=RevisionState.READY)
        same.exclude(pk=revision.pk).delete()
        return _store(
            revision,
            imported.report,
            state=RevisionState.READY,
            revision=imported.revision,
            bytes_done=revision.bytes_total,
            token_lengths=lengths,
        )


def _fail(revision: DatasetRevision, reason: str, report: ValidationReport) -> DatasetRevision:
    return _store(revision, report, state=RevisionState.FAILED, error=reason)


def _in_words(error: Exception, revision: DatasetRevision) -> str:
    """Why an import failed, without the folders of this machine: an upload lies under a name that nobody knows."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{revision.file_name}: {error.strerror}"
    return str(error)


def _store(row: DatasetRevision, report: ValidationReport, **fields: Any) -> DatasetRevision:
    """Write the end of an import. An update, so that a row which was deleted stays deleted."""
    fields |= {"accepted": report.accepted, "rejected": report.rejected, "warnings": report.warned}
    fields |= {"report": report.to_json(keep=SHOWN_PROBLEMS)}
    for name, value in fields.items():
        setattr(row, name, value)
    DatasetRevision.objects.filter(pk=row.pk).update(**fields)
    return row


def _origin(dataset: Dataset) -> Origin:
    return Origin(
        title=dataset.title,
        licence=dataset.licence,
        source=dataset.source,
        package=dataset.package,
        package_version=dataset.package_version,
        notes=dataset.notes,
    )


def _heard() -> dict[str, Any]:
    """The report of a running import: when it was last heard of."""
    return {"heard_at": database_now().isoformat()}


def _heard_at(revision: DatasetRevision) -> datetime:
    said = revision.report.get("heard_at")
    return datetime.fromisoformat(said) if said else revision.created_at
