from pathlib import Path

import pytest

from pipeline.datasets.conversation import read_prompts
from pipeline.datasets.demo.source import DemoSource, Row, import_demo_source, package_file
from pipeline.datasets.revision import read_manifest
from pipeline.errors import ConfigError


def source(*rows: Row, package: str = "pytest") -> DemoSource:
    return DemoSource(slug="B0_x", title="X", package=package, licence="MIT", notes="n", read=lambda: iter(rows))


def test_long_prompts_are_left_out() -> None:
    short: list[Row] = [{"prompt": "x" * 1200}, {"messages": [{"role": "user", "content": "hi"}]}]
    assert list(source(*short, {"prompt": "x" * 1201}, {"prompt": "ä" * 601}).rows()) == short


def test_a_revision_records_where_it_came_from(tmp_path: Path) -> None:
    made = import_demo_source(source({"id": "a", "prompt": "hi"}), tmp_path)
    assert [prompt.id for prompt in read_prompts(made.prompts)] == ["a"]
    manifest = read_manifest(made.folder)
    assert (manifest["package"], manifest["package_version"], manifest["licence"]) == ("pytest", pytest.__version__, "MIT")
    assert manifest["source"] == f"Python package pytest {pytest.__version__}"


def test_a_missing_package_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no-such-package is not installed: pip install --no-deps -r requirements-demo\.txt"):
        import_demo_source(source({"prompt": "hi"}, package="no-such-package"), tmp_path)
    assert package_file("pytest", "pytest/__init__.py").is_file()
