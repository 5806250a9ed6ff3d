"""Uploads that wait for the rest of their form: a name that is refused must not cost a file of gigabytes."""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.core import signing

from eagle3web.domain.import_files import ImportRefused, save_upload, shown_name

KEPT_S = 24 * 3600
"""How long an upload waits."""
_SALT = "eagle3web.uploads"


@dataclass(frozen=True)
class Upload:
    """A file in EAGLE3_HOME/uploads."""

    path: Path
    name: str
    """Of the file as its owner knows it."""

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    @property
    def token(self) -> str:
        """What a form carries to come back to it."""
        return signing.dumps({"file": self.path.name, "name": self.name}, salt=_SALT)


def keep_upload(chunks: Iterable[bytes], name: str) -> Upload:
    """Store an upload, and forget those that nobody came back to. Raises ImportRefused, DiskFullError."""
    path = save_upload(chunks)
    for other in path.parent.iterdir():
        if other.stat().st_mtime < time.time() - KEPT_S:
            other.unlink(missing_ok=True)
    return Upload(path, shown_name(name))


def kept_upload(token: str) -> Upload:
    """The upload that a form came back to. Raises ImportRefused when it is gone."""
    try:
        found = signing.loads(token, salt=_SALT, max_age=KEPT_S)
    except signing.BadSignature:
        found = None
    path = Path(settings.EAGLE3_HOME) / "uploads" / found["file"] if found else None
    if path is None or not path.is_file():
        raise ImportRefused("The uploaded file is not kept any more; choose it again.")
    return Upload(path, found["name"])
