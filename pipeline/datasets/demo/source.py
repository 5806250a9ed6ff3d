"""What a demo dataset is, and how its package's files are found."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from pipeline.datasets.containers.rows import RawRow
from pipeline.datasets.reading import conversations_of
from pipeline.datasets.report import ValidationReport
from pipeline.datasets.revision import ImportedRevision, Origin, store_revision
from pipeline.errors import ConfigError

Row = dict[str, Any]

MAX_PROMPT_BYTES = 1200
"""Longer prompts are left out: about 320 tokens, which keeps the demo quick on two CPU cores."""


@dataclass(frozen=True, kw_only=True)
class DemoSource:
    """One dataset of the demo."""

    slug: str
    title: str
    package: str
    licence: str
    """As the package states it for these prompts."""
    notes: str
    read: Callable[[], Iterator[Row]]

    @property
    def version(self) -> str:
        """Version of the installed package. Raises ConfigError when it is not installed."""
        return _distribution(self.package).version

    @property
    def origin(self) -> Origin:
        return Origin(
            title=self.title,
            licence=self.licence,
            source=f"Python package {self.package} {self.version}",
            package=self.package,
            package_version=self.version,
            notes=self.notes,
        )

    def rows(self) -> Iterator[Row]:
        """Rows in one of the formats that people import, those with short prompts. The same each time."""
        return (row for row in self.read() if _prompt_bytes(row) <= MAX_PROMPT_BYTES)


def import_demo_source(source: DemoSource, home: Path) -> ImportedRevision:
    """Store a demo dataset as a revision. Raises what `import_prompts` raises, and ConfigError without its package."""
    report = ValidationReport()
    rows = (RawRow(index=i, line=None, value=row) for i, row in enumerate(source.rows()))
    conversations = conversations_of(rows, report, file=source.package)
    return store_revision(conversations, report, home=home, slug=source.slug, origin=source.origin)


def package_file(package: str, path: str) -> Path:
    """A file of an installed package, found without importing the package. Raises ConfigError."""
    return Path(str(_distribution(package).locate_file(path)))


def json_lines(package: str, path: str) -> Iterator[Row]:
    with package_file(package, path).open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def _distribution(package: str) -> metadata.Distribution:
    try:
        return metadata.distribution(package)
    except metadata.PackageNotFoundError as error:
        raise ConfigError(f"the package {package} is not installed: pip install --no-deps -r requirements-demo.txt") from error


def _prompt_bytes(row: Row) -> int:
    texts = [message["content"] for message in row["messages"]] if "messages" in row else [row["prompt"]]
    return sum(len(text.encode()) for text in texts)
