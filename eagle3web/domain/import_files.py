"""Where an import's bytes may come from: an upload within the limit, or a file below the configured root."""

import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePath

from django.conf import settings

from pipeline.artifacts import naming_full_disks


class ImportRefused(Exception):  # noqa: N818  (an outcome that callers show, like Django's DoesNotExist)
    """The file may not be imported; the text says why, in a sentence for a person."""


def path_below_root(text: str) -> Path:
    """The file that a person named, by a path below EAGLE3_IMPORT_ROOT. Raises ImportRefused.

    Symbolic links are followed first, so neither `..` nor a link leads out of the root.
    """
    root = Path(settings.EAGLE3_IMPORT_ROOT).resolve()
    try:
        path = (root / text.strip()).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        path = None
    # One answer for "outside" and "not there", so that nobody can ask which files exist elsewhere.
    if path is None or not path.is_relative_to(root) or not path.is_file():
        raise ImportRefused("There is no such file below the import folder, EAGLE3_IMPORT_ROOT of the web host.")
    return path


def importable_files(*, most: int = 200) -> list[str]:
    """Names of files below the import root that a page can offer, relative to it, in order."""
    root = Path(settings.EAGLE3_IMPORT_ROOT).resolve()
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    return sorted(str(path) for path in found if not any(part.startswith(".") for part in path.parts))[:most]


def save_upload(chunks: Iterable[bytes]) -> Path:
    """Store an upload in EAGLE3_HOME/uploads and return where. Raises ImportRefused past EAGLE3_UPLOAD_LIMIT, DiskFullError."""
    folder = Path(settings.EAGLE3_HOME) / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    limit: int = settings.EAGLE3_UPLOAD_LIMIT
    size = 0
    with naming_full_disks("the upload", folder), tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        path = Path(file.name)
        try:
            for chunk in chunks:
                size += len(chunk)
                if size > limit:
                    raise ImportRefused(f"The file is larger than {limit / 1e9:.1f} GB, the limit for uploads.")
                file.write(chunk)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    return path


def shown_name(name: str) -> str:
    """A file's name as a label: no folders, no control characters, at most 300 characters."""
    last = PurePath(name.replace("\\", "/")).name
    return "".join(character if character.isprintable() else "�" for character in last)[:300]
