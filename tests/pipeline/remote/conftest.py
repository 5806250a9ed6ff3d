"""The dashboard's own application on a real port, and the client as people call it."""

from collections.abc import Callable, Iterator

import pytest

from eagle3web.asgi import application
from eagle3web.domain.people import issue_token
from eagle3web.enums import Role
from pipeline.__main__ import main
from tests.support import factories
from tests.support.servers import serving

Remote = Callable[..., tuple[int, str, str]]


@pytest.fixture
def url(transactional_db: None) -> Iterator[str]:
    with serving(application) as url:
        yield url


@pytest.fixture
def remote(url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remote:
    """`remote("runs")` → exit code, standard output, standard error; as somebody who may do everything."""
    user = factories.user("ada", groups=(Role.OPERATOR, Role.BUDGET_ADMIN))
    monkeypatch.setenv("EAGLE3_URL", url)
    monkeypatch.setenv("EAGLE3_TOKEN", issue_token(user, "shell"))

    def call(*arguments: object) -> tuple[int, str, str]:
        code = main(["remote", *map(str, arguments)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call
