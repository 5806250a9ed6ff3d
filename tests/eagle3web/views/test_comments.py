import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.utils import timezone

from eagle3web.models import Comment, User
from tests.support import factories

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def ada() -> User:
    return factories.user("ada", permissions=("view_run",))


@pytest.fixture
def client(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


def test_comment_on_a_run_stands_below_it(client: Client) -> None:
    run = factories.run()
    answer = client.post(f"/runs/{run.pk}/comments/", {"text": "**look** <i>here</i>"}, headers=HTMX)
    html = answer.content.decode()
    assert "<strong>look</strong> &lt;i&gt;here&lt;/i&gt;" in html
    assert "<strong>look</strong>" in client.get(f"/runs/{run.pk}/").content.decode()


def test_comment_on_a_checkpoint_without_a_script_leads_back(client: Client) -> None:
    checkpoint = factories.checkpoint()
    answer = client.post(f"/checkpoints/{checkpoint.pk}/comments/", {"text": "good"})
    assert answer.headers["Location"] == f"/checkpoints/{checkpoint.pk}/#comments-card"
    assert "good" in client.get(f"/checkpoints/{checkpoint.pk}/").content.decode()


def test_empty_comment_says_so_and_keeps_the_form(client: Client) -> None:
    answer = client.post(f"/runs/{factories.run().pk}/comments/", {"text": "  "}, headers=HTMX)
    assert (answer.status_code, "Write something first." in answer.content.decode()) == (422, True)


def test_own_comment_is_edited_and_removed_in_its_place(client: Client, ada: User) -> None:
    comment = factories.comment(factories.run(), "good", author=ada)
    path = f"/comments/{comment.pk}/"
    assert ">good</textarea>" in client.get(path, headers=HTMX).content.decode().replace("\n", "")
    html = client.post(path, {f"c{comment.pk}-text": "better"}, headers=HTMX).content.decode()
    assert ("better" in html, "edited" in html) == (True, True)
    assert "better" in client.get(f"{path}?as=shown", headers=HTMX).content.decode()
    assert "cannot be brought back" in client.get(f"{path}remove/", headers=HTMX).content.decode()
    assert client.post(f"{path}remove/", headers=HTMX).status_code == 204
    comment.refresh_from_db()
    assert comment.text == ""


def test_another_ones_comment_has_no_buttons_and_takes_no_edits(client: Client) -> None:
    comment = factories.comment(factories.run(), "good", author=factories.user("ben"))
    html = client.get(f"/runs/{comment.run_id}/").content.decode()
    assert ("Edit</a>" in html, "Remove…</a>" in html) == (False, False)
    path = f"/comments/{comment.pk}/"
    assert client.post(path, {f"c{comment.pk}-text": "bad"}).status_code == 403
    assert client.get(f"{path}remove/").status_code == 403
    assert client.post(f"{path}remove/").status_code == 403
    assert Comment.objects.get().text == "good"


def test_superuser_removes_but_does_not_rewrite() -> None:
    comment = factories.comment(factories.run(), "bad", author=factories.user("ben"))
    root = Client()
    root.force_login(factories.user("root", is_superuser=True))
    html = root.get(f"/runs/{comment.run_id}/").content.decode()
    assert ("Edit</a>" in html, "Remove…</a>" in html) == (False, True)
    assert root.post(f"/comments/{comment.pk}/remove/").status_code == 302


def test_long_talk_is_cut_and_goes_on(client: Client, django_assert_max_num_queries: object) -> None:
    run = factories.run()
    for number in range(60):
        factories.comment(run, f"remark {number}.", removed_at=timezone.now() if number == 30 else None)
    with django_assert_max_num_queries(10):  # type: ignore[operator]
        html = client.get(f"/runs/{run.pk}/comments/", headers=HTMX).content.decode()
    assert ("remark 59." in html, "remark 10." in html, "remark 9." in html) == (True, True, False)
    first = Comment.objects.order_by("id")[10].pk
    assert f"before={first}" in html
    assert "remark 9." in client.get(f"/runs/{run.pk}/comments/?before={first}", headers=HTMX).content.decode()


def test_whoever_may_not_look_may_not_talk() -> None:
    stranger = factories.user("eve")
    assert not Permission.objects.filter(user=stranger).exists()
    client = Client()
    client.force_login(stranger)
    assert client.post(f"/runs/{factories.run().pk}/comments/", {"text": "x"}).status_code == 403
