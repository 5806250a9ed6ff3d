"""Accounts, links and tokens from the command line."""

import os
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from eagle3web.domain.people import find_token, redeem_sign_in_link
from eagle3web.models import ApiToken, User
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def output(*command: str) -> str:
    stream = StringIO()
    call_command(*command, stdout=stream)
    return stream.getvalue().strip()


def owner_of(token: str) -> User | None:
    found = find_token(token)
    return found.user if found else None


def test_create_admin_prints_a_working_password_once() -> None:
    found = re.search(r"administrator (\S+) with the password (\S+) ", output("create_admin"))
    assert found is not None
    assert User.objects.get(username=found[1]).check_password(found[2])
    assert output("create_admin") == ""


def test_sign_in_link_prints_a_link_that_works() -> None:
    user = make.user("ada")
    link = output("sign_in_link", "ada", "--base", "https://eagle3.example/")
    assert link.startswith("https://eagle3.example/")
    assert redeem_sign_in_link(link.rstrip("/").rsplit("/", 1)[-1]) == user


def test_api_token_prints_a_token_that_works() -> None:
    user = make.user("ada")
    assert owner_of(output("api_token", "ada", "nightly", "--days", "30")) == user
    assert ApiToken.objects.get().expires_at is not None
    assert owner_of(output("api_token", "ada", "forever")) == user


@pytest.mark.parametrize(
    "command", [("sign_in_link", "eve"), ("api_token", "eve", "x"), ("api_token", "eve", "x", "--days", "0")]
)
def test_wrong_arguments_are_named(command: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match=r"'eve'|--days"):
        call_command(*command)


@pytest.mark.slow
def test_database_without_tables_is_told_in_a_sentence(tmp_path: Path) -> None:
    environment = {**os.environ, "EAGLE3_HOME": str(tmp_path), "DATABASE_URL": f"sqlite:///{tmp_path}/new.sqlite3"}
    command = [sys.executable, "manage.py", "sign_in_link", "ada"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=150, check=False)
    assert ended.returncode == 1
    assert re.fullmatch(r"CommandError: The database is not set up \(.*\); `manage.py migrate` does that.\n", ended.stderr)
