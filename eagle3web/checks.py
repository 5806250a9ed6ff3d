"""System checks: a setting that cannot work stops the program at start, and the message says which one and what to do."""

import ipaddress
import os
import re
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Error
from django.core.checks import Warning as Caution
from django.core.exceptions import ValidationError

from eagle3web.models.tags import validate_tags

SOCKET_PATH_LIMIT = 107
"""Bytes that Linux takes as a socket's path."""
SQLITE_MINIMUM = (3, 38)
"""JSON functions are built in from here on."""
DISK_MINIMUM = 2 * 10**9
"""Bytes; a run writes its answers here and fails when nothing is left."""
HOST_AND_PORT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?")
HOST_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
LOCAL_HOSTS = frozenset({"localhost", "127.0.0.1", "[::1]", "testserver"})
NETWORK_FILESYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "fuse.sshfs", "lustre", "ceph", "beegfs"})


def check_installation(app_configs: Sequence[AppConfig] | None, **_: object) -> list[CheckMessage]:
    """Everything that this installation's settings can get wrong; registered when the app is ready."""
    return [
        *_check_home(),
        *_check_broker(),
        *_check_database(),
        *_check_hosts(),
        *_check_notify_hosts(),
        *_check_engine_hosts(),
        *_check_rates(),
    ]


def _check_home() -> Iterator[CheckMessage]:
    home: Path = settings.EAGLE3_HOME
    try:
        with tempfile.TemporaryFile(dir=home):
            pass
    except OSError as error:
        yield Error(
            f"EAGLE3_HOME: cannot write in {home} ({error.strerror}).",
            hint="Make the folder writable for this user, or set EAGLE3_HOME to another one.",
            id="eagle3web.E001",
        )
        return
    free = shutil.disk_usage(home).free
    if free < DISK_MINIMUM:
        yield Caution(
            f"Disk low: {free / 1e9:.1f} GB free for EAGLE3_HOME ({home}).",
            hint="Runs stop with `disk full` when nothing is left; free some space, or move EAGLE3_HOME.",
            id="eagle3web.W001",
        )
    key = home / "secret_key"
    if key.exists() and stat.S_IMODE(key.stat().st_mode) & 0o077:
        yield Error(
            f"{key} can be read by others, who could then forge sessions.",
            hint=f"chmod 600 {key}, and delete it first if somebody else may have seen it (this signs everybody out).",
            id="eagle3web.E002",
        )


def _check_broker() -> Iterator[CheckMessage]:
    url = settings.REDIS_URL
    parts = urlsplit(url)
    if parts.scheme == "unix":
        if len(os.fsencode(parts.path)) > SOCKET_PATH_LIMIT:
            yield Error(
                f"REDIS_URL: the socket's path is longer than {SOCKET_PATH_LIMIT} bytes: {parts.path}",
                hint="Use a shorter path.",
                id="eagle3web.E003",
            )
    elif parts.scheme not in ("redis", "rediss") or not parts.hostname:
        yield Error(
            f"REDIS_URL: {parts.scheme or 'no scheme'}://{parts.hostname or ''} is no address of a Valkey or Redis server.",
            hint="Write redis://HOST:PORT/0, rediss://… or unix:///PATH.",
            id="eagle3web.E004",
        )


def _check_database() -> Iterator[CheckMessage]:
    database = settings.DATABASES["default"]
    engine = database["ENGINE"].rsplit(".", 1)[-1]
    if engine not in ("sqlite3", "postgresql"):
        yield Error(
            f"DATABASE_URL: {engine} is not supported.",
            hint="Write sqlite:///PATH or postgres://USER:PASSWORD@HOST/NAME.",
            id="eagle3web.E005",
        )
    if engine != "sqlite3":
        return
    if sqlite3.sqlite_version_info < SQLITE_MINIMUM:
        yield Error(
            f"SQLite {sqlite3.sqlite_version} is too old.",
            hint=f"Use a Python with SQLite {'.'.join(map(str, SQLITE_MINIMUM))} or newer, or PostgreSQL by DATABASE_URL.",
            id="eagle3web.E006",
        )
    kind = filesystem_of(Path(database["NAME"]), {disk.mountpoint: disk.fstype for disk in psutil.disk_partitions(all=True)})
    if kind in NETWORK_FILESYSTEMS:
        yield Error(
            f"DATABASE_URL: {database['NAME']} lies on a network filesystem ({kind}), where SQLite in WAL mode loses data.",
            hint="Put EAGLE3_HOME on a local disk, or use PostgreSQL.",
            id="eagle3web.E007",
        )


def _check_hosts() -> Iterator[CheckMessage]:
    public = [host for host in settings.ALLOWED_HOSTS if host not in LOCAL_HOSTS]
    if settings.DEBUG and public:
        yield Error(
            f"EAGLE3_DEBUG shows settings and source to everybody who reaches {', '.join(public)}.",
            hint="Unset EAGLE3_DEBUG, or keep EAGLE3_ALLOWED_HOSTS to this machine.",
            id="eagle3web.E008",
        )
    if "*" in settings.ALLOWED_HOSTS:
        yield Caution(
            "EAGLE3_ALLOWED_HOSTS: * lets any name reach the site.",
            hint="List the names that it is reached by.",
            id="eagle3web.W002",
        )
    name: str = settings.EAGLE3_HOST
    if not HOST_NAME.fullmatch(name):
        yield Error(
            f"EAGLE3_HOST: {name!r} must be 1 to 100 letters, digits, dots, dashes or underscores, "
            "and begin with a letter or a digit.",
            hint="Set it to this machine's name as people know it.",
            id="eagle3web.E009",
        )
    try:
        validate_tags(settings.EAGLE3_HOST_TAGS)
    except ValidationError as error:
        yield Error(
            f"EAGLE3_HOST_TAGS: {' '.join(error.messages)}",
            hint="Write tags separated by commas, such as h200,nvme.",
            id="eagle3web.E013",
        )


def _check_notify_hosts() -> Iterator[CheckMessage]:
    wrong = [host for host in settings.EAGLE3_NOTIFY_HOSTS if not HOST_AND_PORT.fullmatch(host)]
    if wrong:
        yield Error(
            f"EAGLE3_NOTIFY_HOSTS: {', '.join(map(repr, wrong))} {'is no host' if len(wrong) == 1 else 'are no hosts'}.",
            hint="Write HOST or HOST:PORT, separated by commas, without a scheme, a path or a pattern.",
            id="eagle3web.E010",
        )


def _check_engine_hosts() -> Iterator[CheckMessage]:
    wrong = [host for host in settings.EAGLE3_ENGINE_HOSTS if not _is_engine_place(host)]
    if wrong:
        yield Error(
            f"EAGLE3_ENGINE_HOSTS: {', '.join(map(repr, wrong))} {'is no host' if len(wrong) == 1 else 'are no hosts'}.",
            hint="Write HOST, HOST:PORT, .DOMAIN or NETWORK/BITS, separated by commas, without a scheme or a path.",
            id="eagle3web.E011",
        )


def _check_rates() -> Iterator[CheckMessage]:
    for name in ("EAGLE3_API_RATE", "EAGLE3_SIGN_IN_RATE"):
        if getattr(settings, name) < 1:
            yield Error(
                f"{name}: {getattr(settings, name)} lets nobody in.",
                hint="Write how often a minute, 1 or more; a very large number is as good as no limit.",
                id="eagle3web.E012",
            )


def _is_engine_place(text: str) -> bool:
    if "/" in text:
        try:
            ipaddress.ip_network(text, strict=False)
        except ValueError:
            return False
        return True
    return HOST_AND_PORT.fullmatch(text.removeprefix(".")) is not None


def filesystem_of(path: Path, mounts: dict[str, str]) -> str:
    """Type of the filesystem that `path` lies on, by the longest mount point above it; empty when none is known."""
    above = [str(folder) for folder in (path, *path.parents) if str(folder) in mounts]
    return mounts[above[0]] if above else ""
