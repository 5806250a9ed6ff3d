"""Datasets as people name them at a shell: `[NAME=]FILE`, in any format, or the prompts of an import."""

import re
from dataclasses import dataclass
from pathlib import Path

from pipeline.datasets.revision import MANIFEST, PROMPTS, import_prompts, read_manifest


@dataclass(frozen=True, kw_only=True)
class NamedPrompts:
    slug: str
    revision: str
    prompts: Path
    """The normalised prompts."""
    count: int


def named_prompts(given: str, *, home: Path) -> NamedPrompts:
    """The file itself when an import made it, else what an import into `home` makes of it.

    Raises DataError when it holds no valid prompt, OSError when it cannot be read.
    """
    name, _, file = given.rpartition("=")
    path = Path(file)
    if path.name == PROMPTS and (path.parent / MANIFEST).exists():
        manifest = read_manifest(path.parent)
        slug = name or str(manifest["slug"])
        return NamedPrompts(slug=slug, revision=manifest["revision"], prompts=path, count=manifest["count"])
    imported = import_prompts(path, home=home, slug=name or _name_of(path))
    return NamedPrompts(slug=imported.slug, revision=imported.revision, prompts=imported.prompts, count=imported.count)


def _name_of(path: Path) -> str:
    stem = path.name.split(".")[0]
    return re.sub(r"[^A-Za-z0-9_-]+", "_", stem).strip("_") or "prompts"
