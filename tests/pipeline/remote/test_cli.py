"""Words, failures and exit codes, against a real server."""

import pytest
from django.core.asgi import get_asgi_application
from pytest_django import Settings

from eagle3web.domain.people import issue_token
from tests.pipeline.remote.conftest import Remote
from tests.support import factories
from tests.support.servers import serving


def test_token_that_nobody_knows_is_told(remote: Remote) -> None:
    code, out, err = remote("runs", "--token", "nonsense")
    assert (code, out) == (4, "")
    assert err.startswith("error: not signed in: set EAGLE3_TOKEN or --token")


def test_what_the_owner_may_not_do_is_told(remote: Remote) -> None:
    run = factories.attempt().run
    token = issue_token(factories.user(permissions=("view_run",)), "looker")
    code, _, err = remote("stop", run.pk, "--token", token)
    assert code == 4
    assert "not allowed: This needs the permission change_run" in err


def test_what_is_not_there_is_told(remote: Remote) -> None:
    code, _, err = remote("show", "r999")
    assert (code, err) == (1, "error: There is no such thing.\n")


def test_address_where_nobody_answers_is_told(remote: Remote) -> None:
    code, _, err = remote("--url", "http://127.0.0.1:9", "runs")
    assert code == 5
    assert "http://127.0.0.1:9 cannot be reached" in err


def test_server_that_is_no_dashboard_is_told(remote: Remote, url: str) -> None:
    code, _, err = remote("--url", f"{url}/static", "runs")
    assert code == 5
    assert "no JSON; is eagle3web there?" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--url", "gpu-07:8000", "runs"), "'gpu-07:8000' is no address"),
        (("--token", "é", "runs"), "has characters that no token has"),
        (("start", "train"), "name the project"),
        (("start", "train", "--config", "/nowhere.json"), "/nowhere.json: "),
        (("set-budget", "p", "B1"), "p has no budget for B1"),
    ],
)
def test_misuse_is_told(remote: Remote, arguments: tuple[str, ...], says: str) -> None:
    factories.project(slug="p")
    code, _, err = remote(*arguments)
    assert code == 2
    assert says in err


def test_whoami_names_person_and_roles(remote: Remote, url: str) -> None:
    assert remote("whoami")[:2] == (0, f"ada at {url}: budget admin, operator\n")


def test_who_asks_too_often_is_told_when_to_ask_again(transactional_db: None, remote: Remote, settings: Settings) -> None:
    """As a server that does not answer for a while: whoever follows a run goes on asking."""
    settings.EAGLE3_API_RATE = 1
    with serving(get_asgi_application()) as url:
        answers = [remote("--url", url, "runs") for _ in range(3)]
    assert answers[0][0] == 0
    code, _, err = answers[2]
    assert code == 5
    assert "Too many requests; the next one is taken in" in err
