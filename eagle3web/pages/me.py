"""What stands on a person's own page."""

from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from eagle3web.domain.deliveries import is_given_up
from eagle3web.domain.notify_targets import service_of
from eagle3web.enums import NotificationKind
from eagle3web.models import ApiToken, NotificationChannel, User
from eagle3web.queries.people import channels_of, last_notifications, tokens_of


@dataclass(frozen=True, kw_only=True)
class ShownToken:
    token: ApiToken
    scopes: list[str]
    expired: bool


@dataclass(frozen=True, kw_only=True)
class ShownChannel:
    channel: NotificationChannel
    service: str
    """Scheme and host, without what is secret."""
    kinds: str
    where: str


def me(user: User) -> dict[str, Any]:
    """About five queries."""
    return {
        "roles": sorted(group.name for group in user.groups.all()),
        "tokens": [_token(token) for token in tokens_of(user.pk)],
        "channels": [shown_channel(channel) for channel in channels_of(user.pk)],
        "sent": [(row, is_given_up(row)) for row in last_notifications(user.pk)],
    }


def shown_channel(channel: NotificationChannel) -> ShownChannel:
    words = dict(NotificationKind.choices)
    names = ", ".join(sorted(project.name for project in channel.projects.all()))
    runs = "my runs" if channel.own_runs_only else "all runs"
    return ShownChannel(
        channel=channel,
        service=service_of(channel.url),
        kinds=", ".join(words.get(kind, kind) for kind in channel.kinds) or "everything",
        where=f"{runs} of {names or 'all projects'}",
    )


def _token(token: ApiToken) -> ShownToken:
    expired = token.expires_at is not None and token.expires_at <= timezone.now()
    return ShownToken(token=token, scopes=list(token.scopes) or ["everything"], expired=expired)
