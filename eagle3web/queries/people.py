"""What belongs to one person."""

from eagle3web.models import ApiToken, Notification, NotificationChannel


def tokens_of(user_id: int) -> list[ApiToken]:
    """The newest first. One query."""
    return list(ApiToken.objects.filter(user=user_id).order_by("-id")[:200])


def channels_of(user_id: int) -> list[NotificationChannel]:
    """By name, with their projects. Two queries."""
    return list(NotificationChannel.objects.filter(user=user_id).prefetch_related("projects").order_by("name")[:100])


def last_notifications(user_id: int) -> list[Notification]:
    """What was told last, the newest first. One query."""
    return list(Notification.objects.filter(channel__user=user_id).select_related("channel").order_by("-id")[:10])
