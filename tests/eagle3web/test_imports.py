"""What the web side loads: never torch, in none of its processes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.system import ROOT

HEAVY = ("torch", "transformers", "pyarrow", "pandas")
PROCESSES = {
    "web": "import eagle3web.asgi, eagle3web.urls",
    "worker": "import eagle3web.tasks",
    "supervisor": "import eagle3web.management.commands.supervise",
}


@pytest.mark.parametrize("name", PROCESSES)
def test_process_loads_nothing_heavy(name: str, tmp_path: Path) -> None:
    program = f"import sys, django; django.setup(); {PROCESSES[name]}; print([m for m in {HEAVY!r} if m in sys.modules])"
    environment = {"DJANGO_SETTINGS_MODULE": "eagle3web.settings", "EAGLE3_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
