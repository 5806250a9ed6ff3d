"""Messages on their way, against a real webhook and a real mail server on this machine."""

import logging
import sys
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from eagle3web.domain import attempts, deliveries
from eagle3web.enums import AttemptStatus, Role
from eagle3web.models import Notification, NotificationChannel, User
from tests.support import factories as make
from tests.support.receivers import Hook, hook, mail_server
from tests.support.servers import wait_until
from tests.support.system import System

pytestmark = pytest.mark.django_db
SECRET = "tokentokentoken"


@pytest.fixture
def webhook(settings: Settings) -> Iterator[Hook]:
    settings.EAGLE3_NOTIFY_HOSTS = ["127.0.0.1"]
    settings.CSRF_TRUSTED_ORIGINS = ["https://eagle3.example"]
    with hook() as found:
        yield found


@pytest.fixture
def ada() -> User:
    return make.user("ada", groups=(Role.VIEWER,))


@pytest.fixture
def channel(webhook: Hook, ada: User) -> NotificationChannel:
    return make.channel(ada, url=f"json://{webhook.address}/{SECRET}")


def due_again() -> None:
    Notification.objects.update(next_try_at=timezone.now() - timedelta(seconds=1))


def test_message_arrives_once_with_the_address_of_its_page(webhook: Hook, channel: NotificationChannel) -> None:
    row = make.notification(channel, subject="r1 failed", body="It failed.", path="/runs/1/")
    assert (deliveries.send_due(), deliveries.send_due()) == (1, 0)
    ((path, body),) = webhook.calls
    assert (path, body["title"], body["message"]) == (
        f"/{SECRET}", "r1 failed", "It failed.\n\nhttps://eagle3.example/runs/1/",
    )  # fmt: skip
    row.refresh_from_db()
    channel.refresh_from_db()
    assert (row.sent_at is not None, row.tries, row.error, channel.last_error) == (True, 1, "", "")
    assert channel.last_sent_at is not None


def test_nothing_but_the_target_is_called(webhook: Hook, channel: NotificationChannel) -> None:
    reached: list[Any] = []
    watching = [True]

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching and event == "socket.connect":
            reached.append(args[1])

    sys.addaudithook(watch)
    try:
        make.notification(channel)
        assert deliveries.send_due() == 1
    finally:
        watching.clear()
    host, port = webhook.address.split(":")
    assert set(reached) == {(host, int(port))}


def test_failure_is_kept_without_secrets_and_tried_again_later(
    webhook: Hook, channel: NotificationChannel, caplog: pytest.LogCaptureFixture
) -> None:
    webhook.status = 500
    row = make.notification(channel)
    with caplog.at_level(logging.DEBUG):
        assert (deliveries.send_due(), deliveries.send_due()) == (0, 0)
    row.refresh_from_db()
    channel.refresh_from_db()
    assert (row.tries, row.sent_at, "500" in row.error, "500" in channel.last_error) == (1, None, True, True)
    assert timedelta(seconds=25) < row.next_try_at - timezone.now() <= timedelta(seconds=30)
    assert SECRET not in row.error + channel.last_error + caplog.text
    webhook.status = 200
    due_again()
    assert deliveries.send_due() == 1
    channel.refresh_from_db()
    assert channel.last_error == ""


def test_pauses_grow_and_end(webhook: Hook, channel: NotificationChannel) -> None:
    webhook.status = 503
    row = make.notification(channel, tries=deliveries.TRIES - 1)
    due_again()
    deliveries.send_due()
    row.refresh_from_db()
    assert row.next_try_at - timezone.now() > timedelta(minutes=60)
    assert deliveries.is_given_up(row)
    due_again()
    deliveries.send_due()
    assert len(webhook.calls) == 1


def test_redirects_are_not_followed(webhook: Hook, channel: NotificationChannel) -> None:
    webhook.status = 302
    make.notification(channel)
    assert deliveries.send_due() == 0
    assert [path for path, _ in webhook.calls] == [f"/{SECRET}"]


def test_host_that_is_not_allowed_any_more_is_not_called(
    webhook: Hook, channel: NotificationChannel, settings: Settings
) -> None:
    settings.EAGLE3_NOTIFY_HOSTS = ["elsewhere.example"]
    make.notification(channel)
    assert (deliveries.send_due(), webhook.calls) == (0, [])
    assert "EAGLE3_NOTIFY_HOSTS" in Notification.objects.get().error


@pytest.mark.parametrize("what", ["off", "gone", "no role"])
def test_nobody_who_may_not_look_is_told(webhook: Hook, channel: NotificationChannel, ada: User, what: str) -> None:
    make.notification(channel)
    if what == "off":
        NotificationChannel.objects.update(enabled=False)
    elif what == "gone":
        User.objects.update(is_active=False)
    else:
        ada.groups.clear()
    assert (deliveries.send_due(), webhook.calls) == (0, [])


def test_message_that_another_worker_claimed_is_left_alone(webhook: Hook, channel: NotificationChannel) -> None:
    make.notification(channel)
    due = deliveries._due(float("inf"))
    assert next(due).tries == 0
    assert deliveries.send_due() == 0


def test_old_messages_are_forgotten(channel: NotificationChannel) -> None:
    old, new = make.notification(channel), make.notification(channel)
    Notification.objects.filter(pk=old.pk).update(created_at=timezone.now() - deliveries.KEPT - timedelta(days=1))
    assert deliveries.forget_old() == 1
    assert Notification.objects.get() == new


def test_mail_arrives(settings: Settings, ada: User) -> None:
    settings.EAGLE3_NOTIFY_HOSTS = ["127.0.0.1"]
    with mail_server() as box:
        channel = make.channel(ada, url=f"mailto://{box.address}?from=bot@example.org&to=ada@example.org")
        deliveries.send_test(channel)
    (mail,) = box.mails
    assert ("To: ada@example.org" in mail, "is told of things" in mail) == (True, True)


def test_a_test_says_what_went_wrong(webhook: Hook, channel: NotificationChannel) -> None:
    webhook.status = 404
    with pytest.raises(deliveries.NotSentError, match="404"):
        deliveries.send_test(channel)
    channel.refresh_from_db()
    assert "404" in channel.last_error


@pytest.mark.slow
def test_a_worker_sends_what_happened(bare_system: System) -> None:
    """The whole way: a run ends, beat asks, a worker sends, and the row says so."""
    with hook() as webhook:
        bare_system.env["EAGLE3_NOTIFY_HOSTS"] = webhook.address
        bare_system.start("valkey", "worker", "beat")
        make.channel(make.user("ada", permissions=("view_run",)), url=f"json://{webhook.address}/hook")
        attempt = make.attempt(make.run())
        attempts.mark(attempt, old={AttemptStatus.RUNNING}, new=AttemptStatus.FAILED, reason="CUDA out of memory")
        wait_until(lambda: Notification.objects.filter(sent_at__isnull=False).exists(), "the message is sent", 60)
        ((path, body),) = webhook.calls
        assert (path, body["title"]) == ("/hook", f"r{attempt.run_id} generate failed")
        assert "CUDA out of memory" in body["message"]
