"""Runs, the attempts that carry them out, and everything an attempt said."""

from django.conf import settings
from django.db import models
from django.utils import timezone

from eagle3web.enums import AttemptStatus, DatasetState, RunStatus, Stage


class Run(models.Model):
    """One intention. Its config is frozen; its status is derived, and kept here so that lists can filter by it."""

    project = models.ForeignKey("eagle3web.Project", on_delete=models.PROTECT, related_name="runs")
    stage = models.CharField(max_length=10, choices=Stage)
    title = models.CharField(max_length=200, blank=True)
    tags = models.JSONField(default=list, blank=True)
    notes = models.TextField(blank=True)
    """What people remark about it, in Markdown."""
    config = models.JSONField()
    """The stage's config as JSON (pipeline.config), without what only an attempt knows."""
    config_hash = models.CharField(max_length=8)
    host = models.CharField(max_length=100, blank=True)
    """Host to run on; empty lets any host take it that has what the run asks for."""
    host_tags = models.JSONField(default=list, blank=True)
    """Tags that a host must have to take it; all of them."""
    devices = models.JSONField(default=list, blank=True)
    """Devices which an attempt holds alone, such as `cuda:0`, or `cuda:*` for any free one; empty for a stage that only talks
    to engines."""
    status = models.CharField(max_length=10, choices=RunStatus, default=RunStatus.QUEUED, db_index=True)
    paused = models.BooleanField(default=False)
    tokens = models.BigIntegerField(default=0)
    """Completion tokens on disk, of the last attempt; this and the next three are copies, so that long lists sort by them."""
    loss = models.FloatField(null=True, blank=True)
    """Held-out loss, the best."""
    accept_length = models.FloatField(null=True, blank=True)
    """Decoded, the best."""
    speedup = models.FloatField(null=True, blank=True)
    """Of the drafter over all datasets, the best of its combinations."""
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="runs")
    cloned_from = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True, related_name="clones")
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)
    queued_at = models.DateTimeField(default=timezone.now)
    """When it was last queued: made, or resumed."""
    stop_requested_at = models.DateTimeField(null=True, blank=True)
    settled_at = models.DateTimeField(null=True, blank=True, help_text="somebody knows that it failed, and leaves it so")
    stop_requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    class Meta:
        ordering = ("-id",)
        indexes = [
            models.Index(fields=["project", "status", "-id"]),
            models.Index(fields=["project", "stage", "-id"]),
            *(models.Index(fields=["project", f"-{name}"]) for name in ("tokens", "loss", "accept_length", "speedup")),
        ]

    def __str__(self) -> str:
        return f"r{self.pk} {self.stage}"


class Attempt(models.Model):
    """One process that carries a run out."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()
    status = models.CharField(max_length=10, choices=AttemptStatus, default=AttemptStatus.STARTING, db_index=True)
    reason = models.TextField(blank=True)
    """Why it ended, in words: `stopped by ada`, `killed by signal 9`, `failed: disk full …`."""

    host = models.CharField(max_length=100)
    boot_id = models.CharField(max_length=64, blank=True)
    folder = models.CharField(max_length=500)
    supervisor_pid = models.PositiveIntegerField(null=True)
    supervisor_started = models.FloatField(null=True)
    """Start time of that pid in clock ticks since boot (field 22 of /proc/PID/stat): a reused pid has another one."""
    pid = models.PositiveIntegerField(null=True)
    """The stage process."""
    pid_started = models.FloatField(null=True)
    argv = models.JSONField(default=list)
    config = models.JSONField(default=dict)
    """The config that this attempt ran with: the run's, with the budgets of the moment."""
    git_sha = models.CharField(max_length=40, blank=True)
    versions = models.JSONField(default=dict)

    created_at = models.DateTimeField(default=timezone.now)
    """By the database's clock, like every other moment of an attempt."""
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    exit_code = models.IntegerField(null=True)
    signal = models.PositiveSmallIntegerField(null=True)

    heartbeat_at = models.DateTimeField(null=True)
    """When the supervisor was last heard, by the database host's clock."""
    tick_at = models.DateTimeField(null=True)
    """When the stage's loop last turned."""
    progress_at = models.DateTimeField(null=True)
    """When something countable last moved."""
    waiting_for = models.CharField(max_length=300, blank=True)
    paused = models.BooleanField(default=False)

    counters = models.JSONField(default=dict)
    """How far extraction, training or a benchmark is: the fields of its last progress event."""
    last_seq = models.PositiveIntegerField(default=0)
    """Number of the last stored event."""
    events_offset = models.BigIntegerField(default=0)
    """Bytes of events.jsonl that are stored."""
    log_bytes = models.BigIntegerField(default=0)
    """Bytes of log.txt that are stored."""
    log_lines = models.PositiveIntegerField(default=0)
    summary = models.JSONField(default=dict)
    """Of stage_finished or stage_interrupted."""

    class Meta:
        ordering = ("run", "number")
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_attempt_a_number")]

    def __str__(self) -> str:
        return f"r{self.run_id} attempt {self.number}"


class Transition(models.Model):
    """A status change, as a row: notifications and audit read these."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="transitions")
    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, null=True, related_name="transitions")
    old = models.CharField(max_length=10)
    new = models.CharField(max_length=10)
    reason = models.TextField(blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(default=timezone.now, db_index=True)
    """By the database's clock."""

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.old} → {self.new}"


class Event(models.Model):
    """The database's copy of one line of events.jsonl."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="events")
    seq = models.PositiveIntegerField()
    t = models.DateTimeField()
    kind = models.CharField(max_length=40)
    payload = models.JSONField(default=dict)

    class Meta:
        ordering = ("attempt", "seq")
        constraints = [models.UniqueConstraint(fields=["attempt", "seq"], name="one_event_a_number")]
        indexes = [models.Index(fields=["attempt", "kind", "seq"])]

    def __str__(self) -> str:
        return f"{self.seq} {self.kind}"


class DatasetProgress(models.Model):
    """Where one dataset stands in one attempt: the last word of its events."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="datasets")
    dataset = models.CharField(max_length=80, db_index=True)
    position = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=DatasetState, default=DatasetState.PENDING)
    reason = models.CharField(max_length=20, blank=True)
    """budget_met, exhausted, max_samples, disabled, stopped."""
    total = models.PositiveIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    truncated = models.PositiveIntegerField(default=0)
    tokens = models.BigIntegerField(default=0)
    budget = models.BigIntegerField(null=True)
    max_samples = models.PositiveIntegerField(null=True)
    budget_version = models.PositiveIntegerField(default=0)
    """The version that the process acknowledged."""
    in_flight = models.PositiveIntegerField(default=0)
    in_flight_tokens = models.BigIntegerField(default=0)
    requests_per_s = models.FloatField(default=0)
    tokens_per_s = models.FloatField(default=0)
    mean_completion = models.FloatField(default=0)
    longest = models.PositiveIntegerField(default=0)
    finish_reasons = models.JSONField(default=dict)
    eta_s = models.FloatField(null=True)
    updated_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("attempt", "position", "id")
        verbose_name_plural = "dataset progress"
        constraints = [models.UniqueConstraint(fields=["attempt", "dataset"], name="one_progress_a_dataset")]

    def __str__(self) -> str:
        return f"{self.attempt} {self.dataset}"


class MetricPoint(models.Model):
    """One point of one chart line."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="points")
    name = models.CharField(max_length=40)
    series = models.CharField(max_length=80, blank=True)
    """Such as the dataset's slug."""
    t = models.DateTimeField()
    step = models.PositiveBigIntegerField(default=0)
    value = models.FloatField()

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=["attempt", "name", "id"])]

    def __str__(self) -> str:
        return f"{self.name} {self.value}"


class LogChunk(models.Model):
    """A piece of log.txt, so that the web host needs no access to the GPU host's disk. It ends at a line end where it can."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="log_chunks")
    offset = models.BigIntegerField()
    """Byte position in log.txt."""
    first_line = models.PositiveIntegerField()
    """Number of the first line that starts in this chunk, from 1."""
    data = models.BinaryField()

    class Meta:
        ordering = ("attempt", "offset")
        constraints = [models.UniqueConstraint(fields=["attempt", "offset"], name="one_chunk_an_offset")]

    def __str__(self) -> str:
        return f"{self.attempt} log at {self.offset}"


class ControlMessage(models.Model):
    """What somebody asked of a live attempt. The supervisor hands it over; the stage's event acknowledges it."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="controls")
    kind = models.CharField(max_length=20)
    payload = models.JSONField(default=dict)
    """Fields of pipeline.control's message of that kind."""
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    delivered_at = models.DateTimeField(null=True)
    acknowledged_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ("id",)
        indexes = [models.Index(fields=["attempt", "delivered_at"])]

    def __str__(self) -> str:
        return f"{self.kind} to {self.attempt}"
