"""Sends what notifications.py wrote down. A try that fails is repeated, later each time; after TRIES it is given up.

A message is claimed before it is sent, so that two workers never send the same one at once. A worker that dies in between
leaves it to be sent again: at least once, and hardly ever twice.
"""

import logging
import threading
import time
from collections.abc import Iterator
from datetime import timedelta

import apprise
from django.conf import settings
from django.db.models import F
from django.utils import timezone

from eagle3web.domain.notify_targets import check_target, without_secrets
from eagle3web.models import Notification, NotificationChannel

TRIES = 8
FIRST_PAUSE = timedelta(seconds=30)
"""Before the second try; each further pause is twice as long, so that the last one is half an hour."""
KEPT = timedelta(days=30)
"""A message that old is no news, nor is that it was told."""
TIME_S = 15.0
"""One round of sending ends after this; what is left waits for the next round."""
ERROR_LIMIT = 500
log = logging.getLogger(__name__)
_round = threading.Lock()


class NotSentError(Exception):
    """The text says why, without the address's secrets."""


def send_due() -> int:
    """Send what waits; how many messages went out. One round at a time in a process: slow targets hold up nothing else."""
    if not _round.acquire(blocking=False):
        return 0
    try:
        return sum(_deliver(notification) for notification in _due(time.monotonic() + TIME_S))
    finally:
        _round.release()


def send_test(channel: NotificationChannel) -> None:
    """Send a greeting at once, and keep how it went in the channel. Raises NotSentError."""
    try:
        _send(channel.url, subject="eagle3web: a test", body=f"This is how “{channel.name}” is told of things.")
    except NotSentError as error:
        _note(channel, error=str(error))
        raise
    _note(channel)


def forget_old() -> int:
    """Delete messages that are older than KEPT, sent or not; how many those were."""
    return Notification.objects.filter(created_at__lt=timezone.now() - KEPT).delete()[0]


def is_given_up(notification: Notification) -> bool:
    return notification.sent_at is None and notification.tries >= TRIES


def _due(deadline: float) -> Iterator[Notification]:
    """Messages that this round may send, each claimed by moving its next try on: 0 rows updated means somebody was first."""
    waiting = Notification.objects.filter(sent_at=None, tries__lt=TRIES, next_try_at__lte=timezone.now())
    for row in waiting.select_related("channel__user").order_by("next_try_at", "id")[:100]:
        if time.monotonic() > deadline:
            return
        next_try = timezone.now() + FIRST_PAUSE * 2**row.tries
        same = Notification.objects.filter(pk=row.pk, sent_at=None, tries=row.tries)
        if same.update(tries=F("tries") + 1, next_try_at=next_try):
            yield row


def _deliver(notification: Notification) -> bool:
    channel = notification.channel
    try:
        if not channel.enabled or not channel.user.is_active or not channel.user.has_perm("eagle3web.view_run"):
            raise NotSentError("the channel is off, or its owner may not look any more")
        _send(channel.url, subject=notification.subject, body=_body(notification))
    except NotSentError as error:
        log.info("notification %d was not sent", notification.pk)
        Notification.objects.filter(pk=notification.pk).update(error=str(error)[:ERROR_LIMIT])
        _note(channel, error=str(error))
        return False
    Notification.objects.filter(pk=notification.pk).update(sent_at=timezone.now(), error="")
    _note(channel)
    return True


def _send(url: str, *, subject: str, body: str) -> None:
    """Hand it to the service. Raises NotSentError, with what apprise said and nothing of what is secret."""
    try:
        target = check_target(url)
    except ValueError as error:
        raise NotSentError(str(error)) from error
    with apprise.LogCapture(level=logging.WARNING, fmt="%(message)s") as said:  # type: ignore[no-untyped-call]
        sent = target.notify(title=subject, body=body, body_format=apprise.NotifyFormat.TEXT)
        words = " ".join(said.getvalue().split())
    if not sent:
        raise NotSentError(without_secrets(words or "the service did not take it", url)[:ERROR_LIMIT])


def _body(notification: Notification) -> str:
    """The message, and the address of the page where this site knows its own."""
    origin = next(iter(settings.CSRF_TRUSTED_ORIGINS), "")
    link = f"{origin.rstrip('/')}{notification.path}" if origin and notification.path else ""
    return "\n\n".join(part for part in (notification.body or notification.subject, link) if part)


def _note(channel: NotificationChannel, *, error: str = "") -> None:
    fields = {"last_error": error[:ERROR_LIMIT]} if error else {"last_error": "", "last_sent_at": timezone.now()}
    NotificationChannel.objects.filter(pk=channel.pk).update(**fields)
