"""Where people want to be told of what happens, and what was sent there."""

from django.conf import settings
from django.db import models


class NotificationChannel(models.Model):
    """One address of one person, as apprise writes it. It may hold a password: pages show it cut, logs never."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="channels")
    name = models.CharField(max_length=80)
    url = models.CharField(max_length=500)
    kinds = models.JSONField(default=list, blank=True)
    """Of enums.NotificationKind; empty for all."""
    projects = models.ManyToManyField("eagle3web.Project", blank=True, related_name="+")
    """Empty for all."""
    own_runs_only = models.BooleanField(default=False)
    enabled = models.BooleanField(default=True)
    last_sent_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("user", "name")
        constraints = [models.UniqueConstraint(fields=["user", "name"], name="one_channel_a_name")]

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class Notification(models.Model):
    """One message for one channel: sent at least once, and never again after `sent_at`."""

    channel = models.ForeignKey(NotificationChannel, on_delete=models.CASCADE, related_name="notifications")
    kind = models.CharField(max_length=20)
    about = models.CharField(max_length=120)
    """What happened, in a word that is the same for the same happening: it is told once a channel."""
    subject = models.CharField(max_length=200)
    body = models.TextField(blank=True)
    path = models.CharField(max_length=200, blank=True)
    """Page that shows it."""
    created_at = models.DateTimeField(auto_now_add=True)
    tries = models.PositiveSmallIntegerField(default=0)
    next_try_at = models.DateTimeField(auto_now_add=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    error = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ("-id",)
        constraints = [models.UniqueConstraint(fields=["channel", "kind", "about"], name="told_once_a_channel")]
        indexes = [models.Index(fields=["sent_at", "next_try_at"])]

    def __str__(self) -> str:
        return self.subject
