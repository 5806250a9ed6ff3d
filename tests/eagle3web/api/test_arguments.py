"""Parameters that an operation does not know."""

import pytest

from eagle3web.enums import Role
from tests.support import factories as make
from tests.support.api import caller

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("path", "unknown", "takes"),
    [
        ("/api/engines", "page", "known are limit, offset"),
        ("/api/runs", "state", "known are limit, offset, project, stage, status, tag, author, q"),
        ("/api/me", "verbose", "this operation takes none"),
        ("/api/projects/k2", "fields", "this operation takes none"),
    ],
)
def test_unknown_parameter_is_refused_by_name(path: str, unknown: str, takes: str) -> None:
    make.project(slug="k2")
    answer = caller("ada", Role.VIEWER).get(path, **{unknown: "1"})
    message = f"There is no such parameter; {takes}."
    assert (answer.status_code, answer.json()) == (
        422,
        {"detail": f"{unknown}: {message}", "errors": [{"field": unknown, "message": message}]},
    )


def test_known_parameters_are_taken() -> None:
    answer = caller("ada", Role.VIEWER).get("/api/runs", status=["live", "failed"], limit=1)
    assert (answer.status_code, answer.json()["count"]) == (200, 0)


def test_caller_without_a_right_does_not_learn_the_parameters() -> None:
    assert caller("bob").get("/api/runs", nothing="1").status_code == 403
