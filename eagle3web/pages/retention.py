"""What the retention rules are, what they would throw away now, and what they threw away."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from eagle3web.domain import prunable
from eagle3web.domain.retention import LEAST_KEPT
from eagle3web.enums import Prunable
from eagle3web.formats import count, size
from eagle3web.models import Project, RetentionPolicy, Run
from eagle3web.pages.questions import Point, Question
from eagle3web.pages.rights import Rights
from eagle3web.queries import pruned
from eagle3web.queries.retention import policies, runs_by_key

UNITS = {
    Prunable.LOGS: "lines",
    Prunable.EVENTS: "events",
    Prunable.POINTS: "points",
    Prunable.SHARDS: "answers",
    Prunable.CHECKPOINTS: "checkpoints",
}
KEEPS = {
    Prunable.LOGS: "of each run the last attempt's log",
    Prunable.EVENTS: "counts, results and decisions in numbers",
    Prunable.POINTS: "the best values, in lists and comparisons",
    Prunable.SHARDS: "what they were made of, and the answers",
    Prunable.CHECKPOINTS: "metrics, model card, reviews and lineage",
}
"""What is left of a thing that is thrown away, in words."""
SHOWN = 200
"""Runs that a preview names, the largest first."""
NEWEST = 50


@dataclass(frozen=True, kw_only=True)
class ShownRule:
    """One kind in all projects, or a project's own rule."""

    kind: Prunable
    policy: RetentionPolicy | None
    """None where nobody made a rule yet."""

    @property
    def keep_last(self) -> int:
        return max(self.policy.keep_last, LEAST_KEPT.get(self.kind, 0)) if self.policy else 0

    @property
    def keeps(self) -> str:
        return KEEPS[self.kind]


@dataclass(frozen=True, kw_only=True)
class Line:
    """What one run would lose of one kind."""

    run: Run
    kind: Prunable
    things: int
    count: int
    bytes: int

    @property
    def unit(self) -> str:
        return UNITS[self.kind]


@dataclass(frozen=True, kw_only=True)
class Preview:
    lines: list[Line]
    more: int
    """Lines that are left out."""
    totals: dict[str, tuple[int, int]]
    """Kind → things and bytes."""
    things: int
    bytes: int


def retention(may: Rights) -> dict[str, Any]:
    """Rules and what went. Three queries."""
    found = policies()
    shared = {row.kind: row for row in found if row.project is None}
    return {
        "may": may,
        "rules": [ShownRule(kind=kind, policy=shared.get(kind)) for kind in Prunable],
        "own_rules": [ShownRule(kind=Prunable(row.kind), policy=row) for row in found if row.project is not None],
        "on": any(row.enabled for row in found),
        "went": list(pruned.newest(NEWEST)),
        "waiting": pruned.waiting(),
    }


def preview() -> Preview:
    """What would go now, in all projects. About a dozen queries for each project with a rule."""
    found = [thing for project in Project.objects.order_by("pk") for thing in prunable.find(project)]
    return previewed(prunable.with_sizes(found))


def previewed(found: Iterable[prunable.Found]) -> Preview:
    """By run and kind, the largest first. One query."""
    grouped: dict[tuple[int, Prunable], list[prunable.Found]] = defaultdict(list)
    for thing in found:
        grouped[thing.run_id, thing.kind].append(thing)
    runs = runs_by_key({run for run, _ in grouped})
    lines = [
        Line(
            run=runs[run],
            kind=kind,
            things=len(things),
            count=sum(thing.count for thing in things),
            bytes=sum(thing.bytes for thing in things),
        )
        for (run, kind), things in grouped.items()
    ]
    lines.sort(key=lambda line: (-line.bytes, -line.run.pk))
    totals = {
        kind.label: (sum(line.things for line in own), sum(line.bytes for line in own))
        for kind in Prunable
        if (own := [line for line in lines if line.kind == kind])
    }
    return Preview(
        lines=lines[:SHOWN],
        more=max(0, len(lines) - SHOWN),
        totals=totals,
        things=sum(line.things for line in lines),
        bytes=sum(line.bytes for line in lines),
    )


def prune_question(seen: Preview) -> Question:
    """Before everything of a preview is removed."""
    points = [Point("x", f"{label}: {count(things)}, {size(bytes_)}.") for label, (things, bytes_) in seen.totals.items()]
    points += [
        Point("check", "Facts stay: runs, results, metrics, lineage, reviews, and the last log of each run."),
        Point("check", "Nothing goes that a live, resumable or starred run or a chosen checkpoint needs."),
        Point("info", "It cannot be brought back. Each host deletes its own files, within seconds where its worker is heard."),
    ]
    return Question(
        title=f"Remove {count(seen.things)} {'thing' if seen.things == 1 else 'things'}, {size(seen.bytes)}?",
        points=points,
        act="Remove",
        refuse="Keep everything",
        icon="x",
        dangerous=True,
    )


def drop_question(policy: RetentionPolicy) -> Question:
    name = policy.project.name if policy.project else "all projects"
    return Question(
        title=f"Forget the rule for {policy.kind} of {name}?",
        points=[Point("info", "The rule of all projects applies from then on."), Point("check", "Nothing is removed now.")],
        act="Forget it",
        refuse="Keep it",
        icon="x",
    )
