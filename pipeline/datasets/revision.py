"""An import: the good rows of a file, stored under a hash of what they say.

HOME/datasets/SLUG/REVISION/
    prompts.jsonl   one Conversation a line
    offsets.bin     where every 64th line begins, for quick paging
    report.json     the validation report
    manifest.json   counts, hashes, source, licence; written last
"""

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.artifacts import Home, naming_full_disks, read_json, sha256_file, write_json
from pipeline.datasets.containers.compression import Progress
from pipeline.datasets.conversation import Conversation
from pipeline.datasets.paging import OFFSETS, OffsetWriter
from pipeline.datasets.reading import read_conversations
from pipeline.datasets.report import ValidationReport
from pipeline.errors import DataError

SLUG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
PROMPTS = "prompts.jsonl"
MANIFEST = "manifest.json"
REPORT = "report.json"


@dataclass(frozen=True, kw_only=True)
class Origin:
    """Where prompts came from and what they may be used for; recorded with the revision."""

    title: str = ""
    licence: str = ""
    source: str = ""
    """File name, address or project that the prompts come from, in words for a person."""
    package: str = ""
    """Python package that carries them."""
    package_version: str = ""
    notes: str = ""


@dataclass(frozen=True, kw_only=True)
class ImportedRevision:
    """A revision that stands on disk."""

    slug: str
    revision: str
    """First 12 hexadecimal digits of the SHA-256 of prompts.jsonl."""
    folder: Path
    count: int
    bytes: int
    """Size of prompts.jsonl."""
    existed: bool
    """The same prompts had been imported before; nothing was written."""
    report: ValidationReport

    @property
    def prompts(self) -> Path:
        return self.folder / PROMPTS


class RefusedImportError(DataError):
    """The file holds no valid row; `report` says why."""

    def __init__(self, text: str, report: ValidationReport) -> None:
        super().__init__(text)
        self.report = report


def import_prompts(
    path: Path,
    *,
    home: Path,
    slug: str,
    name: str = "",
    origin: Origin | None = None,
    vocab_size: int | None = None,
    progress: Progress | None = None,
    report: ValidationReport | None = None,
) -> ImportedRevision:
    """Read a file and store its good rows as a revision of dataset `slug`, all of it or nothing.

    The same prompts give the same revision, however often and under whatever file name they come. A given `report` is
    filled on the way, so that a caller can watch the counts. Raises RefusedImportError when no row is valid, OSError when
    the file cannot be read, DiskFullError, DataError for a slug that cannot be a folder's name.
    """
    report = ValidationReport() if report is None else report
    rows = read_conversations(path, report, name=name, vocab_size=vocab_size, progress=progress)
    source = {"file": name or path.name, "bytes": path.stat().st_size, "sha256": sha256_file(path)}
    return store_revision(rows, report, home=home, slug=slug, origin=origin or Origin(), source_file=source)


def store_revision(
    rows: Iterator[Conversation],
    report: ValidationReport,
    *,
    home: Path,
    slug: str,
    origin: Origin,
    source_file: dict[str, Any] | None = None,
) -> ImportedRevision:
    """Write conversations as a revision. Raises what `import_prompts` raises."""
    if not SLUG.fullmatch(slug):
        raise DataError(f"{slug!r} cannot be a dataset's name: letters, digits, dot, dash and underscore, at most 80")
    parent = home / "datasets" / slug
    parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(parent)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".importing-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary) / "revision"
        folder.mkdir()
        with naming_full_disks(PROMPTS, parent):
            written = _write_prompts(folder, rows)
        if not written.count:
            raise RefusedImportError(report.error, report)
        final = Home(home).dataset(slug, written.revision)
        _write_manifest(folder, slug, written, report, origin, source_file)
        existed = not _publish(folder, final)
    return ImportedRevision(
        slug=slug,
        revision=written.revision,
        folder=final,
        count=written.count,
        bytes=written.bytes,
        existed=existed,
        report=report,
    )


def read_manifest(folder: Path) -> dict[str, Any]:
    """A revision's manifest. Raises DataError when the folder holds none."""
    try:
        manifest: dict[str, Any] = read_json(folder / MANIFEST)
    except (OSError, ValueError) as error:
        raise DataError(f"{folder} is not a dataset revision: {error}") from error
    return manifest


@dataclass(kw_only=True)
class _Written:
    count: int = 0
    bytes: int = 0
    digest: Any = field(default_factory=hashlib.sha256)

    @property
    def revision(self) -> str:
        return str(self.digest.hexdigest()[:12])


def _write_prompts(folder: Path, rows: Iterator[Conversation]) -> _Written:
    written = _Written()
    with (folder / PROMPTS).open("wb") as file, OffsetWriter(folder / OFFSETS) as offsets:
        for conversation in rows:
            line = conversation.to_line()
            offsets.add(written.bytes)
            file.write(line)
            written.digest.update(line)
            written.bytes += len(line)
            written.count += 1
        file.flush()
        os.fsync(file.fileno())
    return written


def _write_manifest(
    folder: Path,
    slug: str,
    written: _Written,
    report: ValidationReport,
    origin: Origin,
    source_file: dict[str, Any] | None,
) -> None:
    write_json(folder / REPORT, report.to_json())
    manifest = {
        "kind": "dataset",
        "slug": slug,
        "revision": written.revision,
        "sha256": written.digest.hexdigest(),
        "count": written.count,
        "bytes": written.bytes,
        "accepted": report.accepted,
        "rejected": report.rejected,
        "source_file": source_file,
        **asdict(origin),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_json(folder / MANIFEST, manifest)


def _remove_abandoned(parent: Path) -> None:
    """Remove what imports that were killed have left; no import lasts a day."""
    for folder in parent.glob(".importing-*"):
        if time.time() - folder.stat().st_mtime > 24 * 3600:
            shutil.rmtree(folder, ignore_errors=True)


def _publish(folder: Path, final: Path) -> bool:
    """Rename into place; False when a complete revision stands there already. A broken one (no manifest) is replaced."""
    if final.exists() and not (final / MANIFEST).exists():
        shutil.rmtree(final)
    try:
        folder.rename(final)
    except OSError:
        if (final / MANIFEST).exists():
            return False
        raise
    return True
