"""Words that are stored and shown. Groups and allowed moves stand beside the values that they speak of."""

from enum import nonmember

from django.db import models


class Stage(models.TextChoices):
    GENERATE = "generate"
    EXTRACT = "extract"
    TRAIN = "train"
    BENCHMARK = "benchmark"
    SERVE = "serve"


class AttemptStatus(models.TextChoices):
    """What became of one process."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    LOST = "lost"

    LIVE = nonmember(frozenset({"starting", "running", "stopping"}))
    TERMINAL = nonmember(frozenset({"finished", "stopped", "failed", "lost"}))
    MOVES = nonmember(
        {
            "starting": frozenset({"running", "stopping", "finished", "stopped", "failed", "lost"}),
            "running": frozenset({"stopping", "finished", "stopped", "failed", "lost"}),
            "stopping": frozenset({"finished", "stopped", "failed", "lost"}),
        }
    )


class RunStatus(models.TextChoices):
    """What a run is, from its wish and its last attempt."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    LOST = "lost"

    LIVE = nonmember(frozenset({"queued", "starting", "running", "stopping"}))
    RESUMABLE = nonmember(frozenset({"stopped", "failed", "lost"}))
    BROKEN = nonmember(frozenset({"failed", "lost"}))
    UNBROKEN = nonmember(frozenset({"finished", "stopped"}))
    """Ended as it was meant to, which says nothing about what it made."""


class ShownState(models.TextChoices):
    """The word on the screen: the status of a live attempt, judged by its clocks."""

    QUEUED = "queued"
    STARTING = "starting"
    RUNNING = "running"
    WAITING = "waiting"
    SILENT = "silent"
    UNRESPONSIVE = "unresponsive"
    PAUSED = "paused"
    STOPPING = "stopping"
    FINISHED = "finished"
    STOPPED = "stopped"
    FAILED = "failed"
    LOST = "lost"


class DatasetState(models.TextChoices):
    """A dataset within an attempt."""

    PENDING = "pending"
    RUNNING = "running"
    SKIPPED = "skipped"
    FINISHED = "finished"
    STOPPED = "stopped"


class InputKind(models.TextChoices):
    """What a run takes from another run, or from the datasets."""

    PROMPTS = "prompts"
    RESPONSES = "responses"
    HIDDEN = "hidden", "hidden states"
    CHECKPOINT = "checkpoint"


class RevisionState(models.TextChoices):
    IMPORTING = "importing"
    READY = "ready"
    FAILED = "failed"


class EngineState(models.TextChoices):
    UNKNOWN = "unknown"
    LOADING = "loading"
    HEALTHY = "healthy"
    HANGING = "hanging"
    DOWN = "down"


class EngineProtocol(models.TextChoices):
    SGLANG = "sglang", "SGLang"
    OPENAI = "openai", "OpenAI-compatible"


class Role(models.TextChoices):
    """Names of the groups that decide what a person may do."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    BUDGET_ADMIN = "budget admin"


class FlagState(models.TextChoices):
    """What becomes of an answer that somebody found bad."""

    FLAGGED = "flagged"
    EXCLUDED = "excluded"
    KEPT = "kept"


class Review(models.TextChoices):
    """What the team thinks of a checkpoint."""

    PROPOSED = "proposed"
    APPROVED = "approved"
    REJECTED = "rejected"


class TokenScope(models.TextChoices):
    """What an API token may be used for."""

    READ = "read", "read everything that you may see"
    OPERATE = "operate", "start, steer and change things"
    BUDGETS = "budgets", "change token budgets"


class Prunable(models.TextChoices):
    """What a retention policy can throw away; facts about it stay."""

    LOGS = "logs", "logs of attempts"
    EVENTS = "events", "events of attempts"
    POINTS = "points", "points of charts"
    SHARDS = "shards", "hidden states of extractions"
    CHECKPOINTS = "checkpoints", "checkpoints"


class NotificationKind(models.TextChoices):
    """What people can be told of."""

    FINISHED = "finished", "a run finished"
    FAILED = "failed", "a run failed"
    LOST = "lost", "a run was lost"
    SILENT = "silent", "a run fell silent"
    BUDGET_MET = "budget_met", "a dataset met its budget"
    BEST_CHECKPOINT = "best_checkpoint", "a new best checkpoint"
