"""Rules of what may be thrown away: one for each kind of thing, in each project or for all of them."""

from dataclasses import dataclass

from django.db import transaction

from eagle3web.domain.audit import record
from eagle3web.enums import Prunable
from eagle3web.models import Project, RetentionPolicy, User

WHAT_STAYS = {
    Prunable.LOGS: ("attempt of each run", "attempts of each run"),
    Prunable.EVENTS: ("attempt of each run", "attempts of each run"),
    Prunable.POINTS: ("attempt of each run", "attempts of each run"),
    Prunable.SHARDS: ("extraction", "extractions"),
    Prunable.CHECKPOINTS: ("of each run", "of each run"),
}
LEAST_KEPT = {Prunable.LOGS: 1}
"""The last log of a run says how it ended, and stays whatever the rule says."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A policy that is switched on, as it applies to one project."""

    kind: Prunable
    days: int
    keep_last: int
    own: bool
    """The project's own; else the one of all projects."""

    @property
    def words(self) -> str:
        """Such as `logs go after 90 days, the last 3 attempts of each run stay (rule of all projects)`."""
        one, many = WHAT_STAYS[self.kind]
        stays = {0: "", 1: f", the last {one} stays"}.get(self.keep_last, f", the last {self.keep_last} {many} stay")
        return f"{self.kind} go after {self.days} days{stays} (rule of {'this project' if self.own else 'all projects'})"


def rules_of(project: Project) -> list[Rule]:
    """The rules that throw things of this project away. A rule of its own stands in for the one of all, also when it is off."""
    found: dict[str, RetentionPolicy] = {}
    # The project's own come last, and win.
    for policy in RetentionPolicy.objects.filter(project=None):
        found[policy.kind] = policy
    for policy in project.retention_policies.all():
        found[policy.kind] = policy
    return [
        Rule(kind=kind, days=row.days, keep_last=max(row.keep_last, LEAST_KEPT.get(kind, 0)), own=row.project_id is not None)
        for kind in Prunable
        if (row := found.get(kind)) is not None and row.enabled
    ]


def is_on() -> bool:
    """Whether anything may be thrown away anywhere."""
    return RetentionPolicy.objects.filter(enabled=True).exists()


def set_policy(
    kind: Prunable, *, project: Project | None, days: int, keep_last: int, enabled: bool, user: User | None
) -> RetentionPolicy:
    """Make or change a rule; nothing is thrown away before the next prune. Raises ValidationError by field."""
    with transaction.atomic():
        row = RetentionPolicy.objects.select_for_update().filter(kind=kind, project=project).order_by().first()
        row = row or RetentionPolicy(kind=kind, project=project)
        wanted = {"enabled": enabled, "days": days, "keep_last": keep_last}
        changes = {name: [getattr(row, name), value] for name, value in wanted.items() if getattr(row, name) != value}
        if row.pk and not changes:
            return row
        for name, value in wanted.items():
            setattr(row, name, value)
        row.full_clean(validate_constraints=False)
        row.save()
        record(user, "retention.change", row, kind=kind, project=project.slug if project else "", changes=changes)
    return row


def drop_policy(policy: RetentionPolicy, *, user: User | None) -> None:
    """Forget a project's own rule, so that the one of all projects applies to it again."""
    with transaction.atomic():
        record(user, "retention.drop", policy, kind=policy.kind, project=policy.project.slug if policy.project else "")
        policy.delete()
