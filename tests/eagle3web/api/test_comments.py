import pytest
from django.test import Client

from eagle3web.domain.people import issue_token
from tests.support import factories as make
from tests.support.api import caller

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]


def test_comments_are_added_listed_edited_and_removed() -> None:
    vic, checkpoint = caller("vic", "viewer"), make.checkpoint()
    path = f"/api/checkpoints/{checkpoint.pk}/comments"
    made = vic.post(path, {"text": " **good** "})
    assert (made.status_code, made.json()["text"], made.json()["author"]) == (201, "**good**", "vic")
    key = made.json()["id"]
    assert vic.patch(f"/api/comments/{key}", {"text": "better"}).json()["text"] == "better"
    assert vic.get(path).json()["count"] == 1
    assert vic.post(f"/api/runs/{checkpoint.run_id}/comments", {"text": "x"}).json()["run"] == checkpoint.run_id
    assert vic.get(f"/api/runs/{checkpoint.run_id}/comments").json()["count"] == 1
    removing = Client(headers={"authorization": f"Bearer {issue_token(vic.user, 't')}"})
    assert removing.delete(f"/api/comments/{key}").json()["text"] == ""
    assert vic.post(path, {"text": "  "}).status_code == 422


def test_anothers_comment_takes_no_edits() -> None:
    comment, vic = make.comment(make.run(), author=make.user("ben")), caller("vic", "viewer")
    answer = vic.patch(f"/api/comments/{comment.pk}", {"text": "mine"})
    assert (answer.status_code, answer.json()["detail"]) == (403, "only who wrote a comment changes it.")
    removing = Client(headers={"authorization": f"Bearer {issue_token(vic.user, 't')}"})
    assert removing.delete(f"/api/comments/{comment.pk}").status_code == 403


@pytest.mark.parametrize("text", ["", " \n\t", "\x1c\x1d", "\u2003\u00a0"])
def test_what_is_white_space_alone_says_nothing(text: str) -> None:
    run = make.run()
    answer = caller("ada", "viewer").post(f"/api/runs/{run.pk}/comments", {"text": text})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "text")
