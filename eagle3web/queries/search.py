"""Rows by what a person types: each kind costs one query, and few rows come back."""

import re
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from eagle3web.enums import Stage
from eagle3web.models import Attempt, Checkpoint, Dataset, Engine, Host, Project, Run

LIMIT = 6
"""Rows of a kind."""
NUMBER = re.compile(r"\b[rR]?(\d{1,15})\b")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What was typed: words that all must occur, and the number among them, such as of `r142`."""

    words: tuple[str, ...]
    number: int | None

    @classmethod
    def parse(cls, text: str) -> "Wanted":
        found = NUMBER.search(text)
        return cls(words=tuple(text.lower().split()[:6]), number=int(found[1]) if found else None)

    def matches(self, *texts: str) -> bool:
        """Whether each word occurs in one of the texts."""
        whole = " ".join(texts).lower()
        return all(word in whole for word in self.words)

    def in_fields(self, *fields: str) -> Q:
        """As `matches`, of columns."""
        condition = Q()
        for word in self.words:
            condition &= Q.create([Q(**{f"{field}__icontains": word}) for field in fields], connector=Q.OR)
        return condition


def projects(wanted: Wanted) -> list[Project]:
    return list(Project.objects.filter(wanted.in_fields("name", "slug", "target_model")).only("slug", "name")[:LIMIT])


def runs(wanted: Wanted) -> list[Run]:
    """By number, else by stage, title and project; the newest first, of all projects."""
    rows = Run.objects.select_related("project").only("stage", "title", "status", "paused", "project__slug", "project__name")
    if wanted.number is not None and len(wanted.words) == 1:
        rows = rows.filter(Q(pk=wanted.number) | wanted.in_fields("title"))
    else:
        rows = rows.filter(wanted.in_fields("title", "stage", "project__name", "project__slug"))
    return list(rows.order_by("-pk")[:LIMIT])


def runs_to_act_on(statuses: frozenset[str], number: int | None) -> QuerySet[Run]:
    """Runs in these states, the newest first; the one with the number, where there is one."""
    rows = Run.objects.filter(status__in=statuses).only("stage", "title", "status", "paused").order_by("-pk")
    return rows if number is None else rows.filter(pk=number)


def datasets(wanted: Wanted) -> list[Dataset]:
    return list(Dataset.objects.filter(wanted.in_fields("slug", "title")).only("slug", "title").order_by("slug")[:LIMIT])


def checkpoints(wanted: Wanted) -> list[Checkpoint]:
    """By the number of their run or step, or the promoted and best ones; the newest first."""
    rows = Checkpoint.objects.filter(removed_at=None).select_related("project")
    rows = rows.only("run_id", "step", "best", "promoted", "project__name").order_by("-pk")
    if wanted.number is not None:
        return list(rows.filter(Q(run=wanted.number) | Q(step=wanted.number))[:LIMIT])
    for word, condition in (("promoted", Q(promoted=True)), ("best", Q(best=True)), ("checkpoint", Q())):
        if wanted.words and word.startswith(wanted.words[0]):
            return list(rows.filter(condition)[:LIMIT])
    return []


def benchmarks(wanted: Wanted) -> list[Attempt]:
    """Attempts that measured, by the number of their run or its title; the newest first."""
    rows = Attempt.objects.filter(run__stage=Stage.BENCHMARK).select_related("run__project").order_by("-pk")
    rows = rows.only("number", "status", "run__title", "run__project__name")
    if wanted.number is not None:
        return list(rows.filter(run=wanted.number)[:LIMIT])
    return list(rows.filter(wanted.in_fields("run__title", "run__stage", "run__project__name"))[:LIMIT])


def engines(wanted: Wanted) -> list[Engine]:
    return list(Engine.objects.filter(wanted.in_fields("name", "url")).only("name", "state").order_by("name")[:LIMIT])


def hosts(wanted: Wanted) -> list[Host]:
    return list(Host.objects.filter(wanted.in_fields("name")).only("name").order_by("name")[:LIMIT])
