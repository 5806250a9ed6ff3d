"""Bad settings stop the program at start, and each message has an id and a hint."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.checks import run_checks
from pytest_django import Settings

from eagle3web import checks
from eagle3web.settings import BASE_DIR

SQLITE = "django.db.backends.sqlite3"


def found() -> set[str]:
    """Ids of our own messages, through Django's registry."""
    messages = [message for message in run_checks() if str(message.id).startswith("eagle3web.")]
    assert all(message.hint for message in messages)
    return {str(message.id) for message in messages}


@pytest.fixture(autouse=True)
def sound(settings: Settings, tmp_path: Path) -> None:
    settings.EAGLE3_HOME = tmp_path
    settings.ALLOWED_HOSTS = ["localhost"]
    settings.DEBUG = False


@pytest.mark.slow
def test_home_that_cannot_be_made_is_told_by_the_check_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    home = tmp_path / "file" / "home"
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=BASE_DIR, env=os.environ | {"EAGLE3_HOME": str(home)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert f"(eagle3web.E001) EAGLE3_HOME: cannot write in {home} (Not a directory)." in done.stderr
    assert "Traceback" not in done.stderr


def test_sound_settings_have_no_findings(settings: Settings) -> None:
    settings.EAGLE3_NOTIFY_HOSTS = ["hooks.example", "10.0.0.7:8443"]
    assert found() == set()


@pytest.mark.parametrize("host", ["https://hooks.example", "hooks.example/x", "*.example", "", "a b", "user@host"])
def test_notification_host_that_is_none_is_told(settings: Settings, host: str) -> None:
    settings.EAGLE3_NOTIFY_HOSTS = ["hooks.example", host]
    assert found() == {"eagle3web.E010"}


@pytest.mark.parametrize("host", ["http://gpu-07", "gpu-07/x", "*.example", "", "10.0.0.0/64", "user@host"])
def test_engine_host_that_is_none_is_told(settings: Settings, host: str) -> None:
    settings.EAGLE3_ENGINE_HOSTS = ["gpu-07:30000", ".gpus.example", "10.0.0.0/8", host]
    assert found() == {"eagle3web.E011"}


@pytest.mark.parametrize("name", ["EAGLE3_API_RATE", "EAGLE3_SIGN_IN_RATE"])
def test_rate_that_lets_nobody_in_is_told(settings: Settings, name: str) -> None:
    setattr(settings, name, 0)
    assert found() == {"eagle3web.E012"}


@pytest.mark.parametrize("home", ["/proc/self/fdinfo", "/nonexistent/folder"])
def test_home_that_cannot_be_written_is_an_error(settings: Settings, home: str) -> None:
    settings.EAGLE3_HOME = Path(home)
    assert found() == {"eagle3web.E001"}


@pytest.mark.parametrize("tags", [["H200"], ["two words"], [""], ["x"] * 17])
def test_tags_of_a_host_must_fit(settings: Settings, tags: list[str]) -> None:
    settings.EAGLE3_HOST_TAGS = tags
    assert found() == {"eagle3web.E013"}


def test_low_disk_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "DISK_MINIMUM", 2**62)
    assert found() == {"eagle3web.W001"}


def test_secret_that_others_can_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("x")
    (tmp_path / "secret_key").chmod(0o644)
    assert found() == {"eagle3web.E002"}
    (tmp_path / "secret_key").chmod(0o600)
    assert found() == set()


@pytest.mark.parametrize(
    ("url", "ids"),
    [
        ("unix:///run/valkey.sock", set()),
        ("unix:///" + "x" * 107, {"eagle3web.E003"}),
        ("redis://broker.example:6379/0", set()),
        ("http://broker.example", {"eagle3web.E004"}),
        ("redis://", {"eagle3web.E004"}),
        ("broker.example:6379", {"eagle3web.E004"}),
    ],
)
def test_broker_address_is_checked(settings: Settings, url: str, ids: set[str]) -> None:
    settings.REDIS_URL = url
    assert found() == ids


def test_broker_password_is_never_shown(settings: Settings) -> None:
    settings.REDIS_URL = "amqp://user:secret@broker.example"
    (message,) = checks.check_installation(None)
    assert "secret" not in str(message)


def test_other_databases_are_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", "django.db.backends.mysql")
    assert {str(message.id) for message in checks.check_installation(None)} == {"eagle3web.E005"}


def test_old_sqlite_is_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", SQLITE)
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 31, 1))
    assert found() == {"eagle3web.E006"}


def test_sqlite_on_a_network_filesystem_is_refused(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "ENGINE", SQLITE)
    monkeypatch.setattr(checks, "filesystem_of", lambda path, mounts: "nfs4")
    assert found() == {"eagle3web.E007"}


def test_filesystem_is_that_of_the_longest_mount_point() -> None:
    mounts = {"/": "ext4", "/data": "nfs4", "/data/local": "xfs"}
    assert checks.filesystem_of(Path("/data/home/eagle3.sqlite3"), mounts) == "nfs4"
    assert checks.filesystem_of(Path("/data/local/eagle3.sqlite3"), mounts) == "xfs"
    assert checks.filesystem_of(Path("/database/x"), mounts) == "ext4"
    assert checks.filesystem_of(Path("/x"), {}) == ""


def test_debug_on_a_reachable_host_is_an_error(settings: Settings) -> None:
    settings.DEBUG = True
    assert found() == set()
    settings.ALLOWED_HOSTS = ["localhost", "eagle3.example"]
    assert found() == {"eagle3web.E008"}


def test_any_host_is_a_warning(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    assert found() == {"eagle3web.W002"}


@pytest.mark.parametrize("name", ["", "h" * 101, "..", "a/b", "gpu 7", "-x"])
def test_host_name_must_fit(settings: Settings, name: str) -> None:
    settings.EAGLE3_HOST = name
    assert found() == {"eagle3web.E009"}
