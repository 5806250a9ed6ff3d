"""People, their API tokens, and what they did."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class User(AbstractUser):
    time_zone = models.CharField(max_length=64, blank=True)
    """IANA name, such as Europe/Madrid; empty lets the browser decide."""


class ApiToken(models.Model):
    """Lets a program act for its owner. Only a hash is stored: the token is shown once."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=100)
    digest = models.CharField(max_length=64, unique=True)
    """SHA-256 of the token, hexadecimal."""
    prefix = models.CharField(max_length=12)
    """First characters, to recognise it by."""
    scopes = models.JSONField(default=list, blank=True)
    """Of enums.TokenScope: what it may be used for, within its owner's rights; empty for all of them."""
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class AuditEntry(models.Model):
    """Who did what to what. Written by the domain, never changed."""

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    user = models.ForeignKey(User, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    """None when the system acted by itself."""
    verb = models.CharField(max_length=40, db_index=True)
    """Such as `run.stop` or `budget.change`."""
    target = models.CharField(max_length=200)
    """Such as `run 142`."""
    detail = models.JSONField(default=dict)

    class Meta:
        ordering = ("-id",)
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.verb} {self.target}"
