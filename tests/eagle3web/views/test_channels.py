"""Where a person is told of things."""

from collections.abc import Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from eagle3web.models import AuditEntry, NotificationChannel, User
from tests.support import factories as make
from tests.support.receivers import Hook, hook

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("home")]
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


@pytest.fixture
def ada() -> User:
    return make.user("ada", permissions=("view_run",))


@pytest.fixture
def client(ada: User) -> Client:
    client = Client()
    client.force_login(ada)
    return client


@pytest.fixture
def webhook(settings: Settings) -> Iterator[Hook]:
    settings.EAGLE3_NOTIFY_HOSTS = ["127.0.0.1"]
    with hook() as found:
        yield found


def test_channel_is_made_and_its_address_is_never_shown_again(client: Client, ada: User) -> None:
    project = make.project(slug="k2")
    fields = {"name": "team", "url": SLACK, "kinds": ["failed", "lost"], "projects": [project.pk], "enabled": "on"}
    assert client.post("/me/channels/new/", fields).headers["Location"] == "/me/"
    row = NotificationChannel.objects.get()
    assert (row.user, row.url, row.kinds, list(row.projects.all())) == (ada, SLACK, ["failed", "lost"], [project])
    pages = client.get("/me/").content.decode() + client.get(f"/me/channels/{row.pk}/").content.decode()
    assert ("slack://…" in pages, "TIiajkdnlazk" in pages, "TIiajkdnlazk" in str(AuditEntry.objects.values())) == (
        True,
        False,
        False,
    )


def test_empty_address_keeps_the_stored_one(client: Client, ada: User) -> None:
    row = make.channel(ada, name="team", url=SLACK)
    client.post(f"/me/channels/{row.pk}/", {"name": "team 2", "url": "", "own_runs_only": "on"})
    row.refresh_from_db()
    assert (row.name, row.url, row.own_runs_only, row.enabled) == ("team 2", SLACK, True, False)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"url": "json://10.0.0.7/x"}, "are sent to these"),
        ({"url": ""}, "Write an address"),
        ({"url": SLACK, "name": "mine"}, "You have a channel of this name already."),
        ({"url": SLACK, "kinds": ["everything"]}, "everything is not one of the available choices"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_reason(client: Client, ada: User, fields: dict[str, object], why: str) -> None:
    make.channel(ada, name="mine")
    answer = client.post("/me/channels/new/", {"name": "new"} | fields)
    assert (answer.status_code, why in answer.content.decode()) == (422, True)
    assert NotificationChannel.objects.count() == 1


def test_there_is_a_limit_to_channels(client: Client, ada: User) -> None:
    for number in range(20):
        row = make.channel(ada, name=f"c{number}", url=SLACK)
    answer = client.post("/me/channels/new/", {"name": "one more", "url": SLACK})
    assert (answer.status_code, "You have 20 channels already" in answer.content.decode()) == (422, True)
    assert client.post(f"/me/channels/{row.pk}/", {"name": "changed", "url": ""}).status_code == 302


def test_the_test_button_sends_and_says_how_it_went(client: Client, ada: User, webhook: Hook) -> None:
    row = make.channel(ada, name="hook", url=f"json://{webhook.address}/x")
    assert "A test was sent to hook" in client.post(f"/me/channels/{row.pk}/test/", follow=True).content.decode()
    webhook.status = 500
    html = client.post(f"/me/channels/{row.pk}/test/", follow=True).content.decode()
    assert "The test did not arrive at hook" in html
    assert len(webhook.calls) == 2


def test_removing_asks_first(client: Client, ada: User) -> None:
    row = make.channel(ada, name="team", url=SLACK)
    assert "Switching it off keeps it." in client.get(f"/me/channels/{row.pk}/remove/").content.decode()
    assert client.post(f"/me/channels/{row.pk}/remove/").headers["Location"] == "/me/"
    assert NotificationChannel.objects.count() == 0
    assert AuditEntry.objects.get().detail == {"name": "team", "service": "slack://…"}


@pytest.mark.parametrize("act", ["", "test/", "remove/"])
def test_anothers_channel_is_not_found(client: Client, act: str) -> None:
    row = make.channel(make.user("ben"), url=SLACK)
    assert client.post(f"/me/channels/{row.pk}/{act}").status_code == 404
    assert NotificationChannel.objects.count() == 1
