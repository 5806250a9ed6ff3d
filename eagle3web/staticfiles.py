"""Static files: plotly.min.js straight from its wheel, and names with content hashes that script modules follow."""

from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.contrib.staticfiles.storage import HashedFilesMixin
from django.core.files.storage import FileSystemStorage, Storage
from whitenoise.storage import CompressedManifestStaticFilesStorage

PLOTLY = "plotly.min.js"


class PlotlyFinder(BaseFinder):
    """Finds the one script of the plotly wheel that browsers need, so that no copy of it lies in this project."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        spec = find_spec("plotly")
        if spec is None or spec.origin is None:
            raise RuntimeError("plotly is not installed: its wheel carries the script that draws the charts")
        self.storage = FileSystemStorage(location=Path(spec.origin).parent / "package_data")

    def check(self, **kwargs: Any) -> list[Any]:
        return []

    def find(self, path: str, find_all: bool = False, **kwargs: Any) -> Any:  # noqa: ANN401  (Django's signature)
        found = [self.storage.path(PLOTLY)] if path == PLOTLY else []
        return found if find_all else found[0] if found else None

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, Storage]]:
        yield PLOTLY, self.storage


class ModuleStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """Rewrites `import … from "./x.js"` in this project's modules, so that one and what it imports always belong together."""

    support_js_module_import_aggregation = True
    _js_module_import_aggregation_patterns = ("js/*.js", HashedFilesMixin._js_module_import_aggregation_patterns[1])  # type: ignore[attr-defined]
