"""Where a person is told of things: kept and taken away, with a trace that never holds the address."""

from collections.abc import Iterable

from django.db import transaction

from eagle3web.domain.audit import record
from eagle3web.domain.notify_targets import check_target, service_of
from eagle3web.models import NotificationChannel, Project, User


def save_channel(channel: NotificationChannel, *, projects: Iterable[Project], user: User) -> NotificationChannel:
    """Keep a new or changed channel of `user`. Raises ValueError for an address that messages must not be sent to."""
    check_target(channel.url)
    made = channel.pk is None
    with transaction.atomic():
        channel.save()
        channel.projects.set(projects)
        record(user, "channel.add" if made else "channel.change", channel, name=channel.name, service=service_of(channel.url))
    return channel


def remove_channel(channel: NotificationChannel, *, user: User) -> None:
    """Delete it with what was told there; what still waits is not sent."""
    with transaction.atomic():
        record(user, "channel.remove", channel, name=channel.name, service=service_of(channel.url))
        channel.delete()
