"""All tables. Fields live here, verbs in eagle3web.domain."""

from eagle3web.models.benchmark import BenchmarkRow, DraftedAnswer
from eagle3web.models.checkpoint import Checkpoint
from eagle3web.models.dataset import Dataset, DatasetRevision
from eagle3web.models.engine import Engine, Host, Lease
from eagle3web.models.lineage import RunInput
from eagle3web.models.person import ApiToken, AuditEntry, User
from eagle3web.models.project import Project, TokenBudget
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

__all__ = [
    "ApiToken",
    "Attempt",
    "AuditEntry",
    "BenchmarkRow",
    "Checkpoint",
    "ControlMessage",
    "Dataset",
    "DatasetProgress",
    "DatasetRevision",
    "DraftedAnswer",
    "Engine",
    "Event",
    "Host",
    "Lease",
    "LogChunk",
    "MetricPoint",
    "Project",
    "Run",
    "RunInput",
    "TokenBudget",
    "Transition",
    "User",
]
