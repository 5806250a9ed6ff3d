"""Which answers a later stage reads: of one dataset revision, asked for in one way."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class AnswerSet:
    """One dataset's answers, as generation left them below the project's folder of responses."""

    dataset: str
    """Slug: the folder's name."""
    revision: str
    sampling: str = ""
    """`responses.record.sampling_name` of how they were asked for; empty takes all."""
