"""Inference servers, the machines that work, and who holds which device."""

from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models

from eagle3web.enums import EngineProtocol, EngineState


def validate_base_url(value: str) -> None:
    """Refuse what is no `http://HOST:PORT`. Django's URLField does not take hosts of one word, such as `gpu-07`."""
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        sound = False
    if not sound or parts.username or parts.query or parts.fragment or any(c.isspace() or not c.isprintable() for c in value):
        raise ValidationError("Write the engine's address, such as http://gpu-07:30000, without a password or a query.")


class Engine(models.Model):
    """A server that answers requests."""

    name = models.CharField(max_length=80, unique=True)
    url = models.CharField(max_length=300, validators=[validate_base_url])
    protocol = models.CharField(max_length=10, choices=EngineProtocol, default=EngineProtocol.SGLANG)
    model_name = models.CharField(max_length=300, blank=True)
    """The name that the OpenAI protocol asks for."""
    enabled = models.BooleanField(default=True)
    state = models.CharField(max_length=10, choices=EngineState, default=EngineState.UNKNOWN)
    reason = models.CharField(max_length=500, blank=True)
    """Why it is not healthy."""
    state_since = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    info = models.JSONField(default=dict, blank=True)
    """model_path, context_length, version, capture (the folder of its hidden states), as the server says."""
    running = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0)
    tokens_per_s = models.FloatField(null=True, blank=True)
    accept_length = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Host(models.Model):
    """A machine with a worker."""

    name = models.CharField(max_length=100, unique=True)
    boot_id = models.CharField(max_length=64, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    steady_since = models.DateTimeField(null=True, blank=True)
    """Since when its reports came without a gap; one that was away itself must not judge the silence of others."""
    sample = models.JSONField(default=dict, blank=True)
    """cpu_percent, cpu_count, memory_used, memory_total, disk_free, disk_total (bytes), gpus as in HostSample."""
    tags = models.JSONField(default=list, blank=True)
    """What it says of itself (EAGLE3_HOST_TAGS), such as `h200`: runs ask for these."""
    clock_ahead_s = models.FloatField(null=True, blank=True)
    """Seconds by which its clock is ahead of the database's; negative when it is behind."""
    drained_at = models.DateTimeField(null=True, blank=True)
    """Since when it gets no new attempt; empty while it gets them."""
    drained_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    drain_reason = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class HostSample(models.Model):
    """What a machine did at one moment; old ones are thinned out and deleted."""

    host = models.ForeignKey(Host, on_delete=models.CASCADE, related_name="samples")
    at = models.DateTimeField()
    cpu_percent = models.FloatField(null=True)
    memory_used = models.BigIntegerField(null=True)
    memory_total = models.BigIntegerField(null=True)
    disk_free = models.BigIntegerField(null=True)
    disk_total = models.BigIntegerField(null=True)
    gpus = models.JSONField(default=list, blank=True)
    """[{index, name, utilisation_percent, memory_used, memory_total, power_w, temperature_c}, …]."""

    class Meta:
        ordering = ("host", "at")
        indexes = [models.Index(fields=["host", "at"])]

    def __str__(self) -> str:
        return f"{self.host} at {self.at:%H:%M:%S}"


class EngineSample(models.Model):
    """What an engine did at one moment, as its own status says."""

    engine = models.ForeignKey(Engine, on_delete=models.CASCADE, related_name="samples")
    at = models.DateTimeField()
    running = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0)
    tokens_per_s = models.FloatField(null=True)
    accept_length = models.FloatField(null=True)

    class Meta:
        ordering = ("engine", "at")
        indexes = [models.Index(fields=["engine", "at"])]

    def __str__(self) -> str:
        return f"{self.engine} at {self.at:%H:%M:%S}"


class Lease(models.Model):
    """One attempt holds one device of one host, or one store that only one process may write."""

    host = models.CharField(max_length=100, blank=True)
    """Empty for what all hosts share."""
    device = models.CharField(max_length=120)
    """`cuda:0`, `responses/PROJECT`."""
    attempt = models.ForeignKey("eagle3web.Attempt", on_delete=models.CASCADE, related_name="leases")
    taken_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["host", "device"], name="one_lease_a_device")]

    def __str__(self) -> str:
        return f"{self.host} {self.device}".strip()
