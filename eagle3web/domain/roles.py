"""What each role may do. Roles are groups; their permissions stand here, in code, and every migrate restores them."""

from collections.abc import Mapping

from django.apps import apps
from django.contrib.auth.management import create_permissions
from django.contrib.auth.models import Group, Permission

from eagle3web.enums import Role
from eagle3web.models import User

SEEN_BY_ALL = (
    "project", "tokenbudget", "dataset", "datasetrevision", "run", "attempt", "transition", "event", "datasetprogress",
    "metricpoint", "logchunk", "controlmessage", "engine", "host", "hostsample", "enginesample", "lease", "checkpoint",
    "retentionpolicy", "pruned", "checkpointreview", "benchmarkrow", "draftedanswer", "answer", "answerfile", "answerflag",
    "comment",
)  # fmt: skip

VIEW = frozenset(f"view_{model}" for model in SEEN_BY_ALL)
OPERATE = frozenset(
    {
        "add_project",
        "change_project",
        "add_dataset",
        "change_dataset",
        "add_run",
        "change_run",
        "add_engine",
        "change_engine",
        "change_host",
        "change_checkpoint",
        "add_answerflag",
        "change_answerflag",
    }
)
BUDGET = frozenset({"add_tokenbudget", "change_tokenbudget"})

PERMISSIONS: Mapping[Role, frozenset[str]] = {
    Role.VIEWER: VIEW,
    Role.OPERATOR: VIEW | OPERATE,
    Role.BUDGET_ADMIN: VIEW | BUDGET,
}
"""Codenames in the app eagle3web. A person may be in several groups; accounts, tokens and the audit trail need a superuser."""


def ensure_groups(using: str = "default", **_: object) -> None:
    """Every role's group exists with exactly its permissions, however often this runs; a receiver of post_migrate.

    The permissions are created here first, because Django's own receiver comes later for an app that is listed first.
    """
    create_permissions(apps.get_app_config("eagle3web"), verbosity=0, using=using)
    for role, codenames in PERMISSIONS.items():
        group, _created = Group.objects.using(using).get_or_create(name=role.value)
        found = Permission.objects.using(using).filter(content_type__app_label="eagle3web", codename__in=codenames)
        group.permissions.set(found)


def admit_to_admin(user: User) -> None:
    """Let into the Django admin whoever has work there: superusers, operators (engines, tables) and budget admins."""
    user.is_staff = user.is_superuser or user.groups.filter(name__in=[Role.OPERATOR, Role.BUDGET_ADMIN]).exists()
    user.save(update_fields=["is_staff"])
