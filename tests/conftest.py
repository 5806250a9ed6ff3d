"""Every test session has a home, a broker socket and a database of its own; nothing touches var/."""

import logging
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from hypothesis import settings as hypothesis
from pytest_django import DjangoDbBlocker, Settings

from tests.support.standing import StandingSite
from tests.support.system import System

# Under a short name: the path of a socket has 107 bytes at most.
SESSION_HOME = Path(tempfile.mkdtemp(prefix="eagle3-"))


class Loggers(dict[str, Any]):
    """All loggers. pytest walks over them around every test, while a thread of what is tested may make another one."""

    def values(self) -> Any:  # noqa: ANN401  (a list in the place of dict's view)
        return list(super().values())


def pytest_configure() -> None:
    """Move the settings into the session's home before anything reads them."""
    logging.root.manager.loggerDict = Loggers(logging.root.manager.loggerDict)
    url = f"unix://{SESSION_HOME}/valkey.sock"
    settings.EAGLE3_HOME = SESSION_HOME
    settings.EAGLE3_IMPORT_ROOT = SESSION_HOME / "imports"
    settings.EAGLE3_HOST = "test-host"
    settings.SECRET_KEY = "only for tests"
    settings.REDIS_URL = url
    settings.CELERY_BROKER_URL = url.replace("unix://", "redis+socket://")
    settings.CHANNEL_LAYERS["default"]["CONFIG"] = {"hosts": [url], "prefix": "eagle3"}
    settings.STATIC_ROOT = SESSION_HOME / "static"
    settings.STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
    # A slow moment of a shared machine is no fault of the code.
    hypothesis.register_profile("shared machine", deadline=None)
    hypothesis.load_profile("shared machine")
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with a long time limit first: no worker begins one of them when the others are at their end."""
    items.sort(key=_time_limit, reverse=True)


def _time_limit(item: pytest.Item) -> float:
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker else 0.0


def pytest_unconfigure() -> None:
    shutil.rmtree(SESSION_HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """SQLite in a file, not in memory, so that the processes of a System see the rows of a test."""
    if connection.vendor == "sqlite":
        connection.settings_dict["TEST"]["NAME"] = str(SESSION_HOME / "test.sqlite3")


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database server drops no database that somebody is connected to, and a thread of some test may still be."""
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid != pg_backend_pid()"
            )


@pytest.fixture(autouse=True)
def own_log_handlers() -> Iterator[None]:
    """What a test calls may set up logging as for a process of its own; none of that is left to the next test."""
    handlers, level = list(logging.root.handlers), logging.root.level
    yield
    logging.root.handlers[:] = handlers
    logging.root.setLevel(level)


@pytest.fixture
def home(tmp_path: Path, settings: Settings) -> Path:
    """An empty EAGLE3_HOME for one test."""
    settings.EAGLE3_HOME = tmp_path / "home"
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.fixture(scope="session")
def standing_site(django_db_setup: None) -> Iterator[StandingSite]:
    """For `site` of the browser tests; it ends before the database does."""
    site = StandingSite(SESSION_HOME / "site", socket=SESSION_HOME / "valkey.sock", static=SESSION_HOME / "static")
    yield site
    site.close()


@pytest.fixture
def bare_system(home: Path, transactional_db: None, standing_site: StandingSite) -> Iterator[System]:
    """The system's processes over this test's database and home, none of them started yet."""
    standing_site.close()
    system = System(home, socket=SESSION_HOME / "valkey.sock", static=SESSION_HOME / "static")
    try:
        yield system
    finally:
        system.close()


@pytest.fixture
def system(standing_site: StandingSite, transactional_db: None, settings: Settings) -> Iterator[System]:
    """Valkey, web, worker and beat, ready; the first two may have stood before."""
    system = standing_site.open()
    settings.EAGLE3_HOME = system.home
    try:
        system.start("worker", "beat")
        yield system
    finally:
        standing_site.tidy()
