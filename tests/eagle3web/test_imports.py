"""What the web side loads: never torch, in none of its processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.system import ROOT

HEAVY = ("torch", "transformers", "pyarrow", "pandas")
PROCESSES = {
    "supervisor": "eagle3web.management.commands.supervise",
    "worker": "eagle3web.tasks",
    "web": "eagle3web.asgi, eagle3web.urls",
}


@pytest.mark.slow
def test_processes_of_the_web_side_load_nothing_heavy(tmp_path: Path) -> None:
    imports = "".join(
        f"import {modules}; print({name!r}, [m for m in {HEAVY!r} if m in sys.modules])\n"
        for name, modules in PROCESSES.items()
    )
    environment = {"DJANGO_SETTINGS_MODULE": "eagle3web.settings", "EAGLE3_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, django; django.setup()\n{imports}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["supervisor []", "worker []", "web []"]
