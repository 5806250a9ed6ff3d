"""All tables. Fields live here, verbs in eagle3web.domain."""

from eagle3web.models.answer import Answer, AnswerFile, AnswerFlag
from eagle3web.models.benchmark import BenchmarkRow, DraftedAnswer
from eagle3web.models.checkpoint import Checkpoint
from eagle3web.models.dataset import Dataset, DatasetRevision
from eagle3web.models.engine import Engine, EngineSample, Host, HostSample, Lease
from eagle3web.models.lineage import RunInput
from eagle3web.models.notification import Notification, NotificationChannel
from eagle3web.models.person import ApiToken, AuditEntry, User
from eagle3web.models.project import Project, TokenBudget
from eagle3web.models.retention import Pruned, RetentionPolicy
from eagle3web.models.run import (
    Attempt,
    ControlMessage,
    DatasetProgress,
    Event,
    LogChunk,
    MetricPoint,
    Run,
    Transition,
)
from eagle3web.models.talk import CheckpointReview, Comment, SavedView, Star

__all__ = [
    "Answer",
    "AnswerFile",
    "AnswerFlag",
    "ApiToken",
    "Attempt",
    "AuditEntry",
    "BenchmarkRow",
    "Checkpoint",
    "CheckpointReview",
    "Comment",
    "ControlMessage",
    "Dataset",
    "DatasetProgress",
    "DatasetRevision",
    "DraftedAnswer",
    "Engine",
    "EngineSample",
    "Event",
    "Host",
    "HostSample",
    "Lease",
    "LogChunk",
    "MetricPoint",
    "Notification",
    "NotificationChannel",
    "Project",
    "Pruned",
    "RetentionPolicy",
    "Run",
    "RunInput",
    "SavedView",
    "Star",
    "TokenBudget",
    "Transition",
    "User",
]
