"""The settings of a team's installation satisfy Django's own checks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_deployment_behind_tls_is_clean(tmp_path: Path) -> None:
    environment = os.environ | {
        "EAGLE3_HOME": str(tmp_path),
        "EAGLE3_HTTPS": "true",
        "EAGLE3_ALLOWED_HOSTS": "eagle3.example",
        "EAGLE3_ORIGINS": "https://eagle3.example",
    }
    command = [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
