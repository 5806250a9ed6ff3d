import re
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.files.base import ContentFile

from eagle3web.staticfiles import ModuleStorage, PlotlyFinder


def test_plotly_comes_from_its_wheel() -> None:
    found = finders.find("plotly.min.js")
    assert isinstance(found, str)
    assert "plotly" in Path(found).parts
    assert [name for name, _ in PlotlyFinder().list([])] == ["plotly.min.js"]


def test_pages_hold_the_id_by_which_plotly_leaves_out_its_map_style() -> None:
    script = finders.find("plotly.min.js")
    assert isinstance(script, str)
    (key,) = re.findall(r'getElementById\("(\w{64})"\)', Path(script).read_text())
    assert f'id="{key}"' in (Path(settings.BASE_DIR) / "templates" / "base.html").read_text()


def test_finder_gives_nothing_else_of_the_wheel() -> None:
    assert PlotlyFinder().find("widgetbundle.js") is None
    assert PlotlyFinder().find("../plotly.min.js", find_all=True) == []


def test_module_imports_the_hashed_name_of_what_it_needs(tmp_path: Path, settings: pytest.FixtureRequest) -> None:
    storage = ModuleStorage(location=tmp_path)
    files = {
        "js/page.js": b'import { start } from "./live.js";\nstart();\n',
        "js/live.js": b"export const start = () => {};\n",
        "other/page.js": b'import { x } from "./missing.js";\n',
    }
    for name, content in files.items():
        storage.save(name, ContentFile(content))
    done = dict(item[:2] for item in storage.post_process({name: (storage, name) for name in files}))
    assert done["js/live.js"] in "\n".join(["js/" + line for line in (tmp_path / done["js/page.js"]).read_text().split("./")])
    assert b"./missing.js" in (tmp_path / done["other/page.js"]).read_bytes()
