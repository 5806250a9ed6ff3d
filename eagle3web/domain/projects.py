"""Projects: one drafter for one target model."""

from typing import Any, TypedDict, Unpack

from django.core.exceptions import ValidationError
from django.db import transaction

from eagle3web.domain.audit import record
from eagle3web.models import Project, User


class ProjectFields(TypedDict, total=False):
    """What people decide about a project, as in the model."""

    name: str
    target_model: str
    tokenizer: str
    target_path: str
    chat_template: str
    chat_template_kwargs: dict[str, Any]
    sampling: dict[str, Any]
    host_tags: list[str]
    allow_remote_code: bool


TRUSTING = "eagle3web.allow_remote_code"
"""The permission to let a target's folder bring code."""


def create_project(slug: str, *, user: User | None, **fields: Unpack[ProjectFields]) -> Project:
    """Make a project. Raises ValidationError by field."""
    project = Project(slug=slug, created_by=user, **fields)
    if project.allow_remote_code:
        _check_may_trust(user)
    with transaction.atomic():
        project.full_clean()
        project.save()
        record(user, "project.create", project, slug=slug)
    return project


def change_project(project: Project, *, user: User | None, **changes: Unpack[ProjectFields]) -> Project:
    """Change what future runs start with: runs that exist keep their frozen configs. Raises ValidationError by field.

    Whether the target's code may run is asked anew by each attempt. Somebody who may not allow that and names another folder
    takes the leave away: it was given for the code in the old one.
    """
    moved = {name: [getattr(project, name), value] for name, value in changes.items() if getattr(project, name) != value}
    if not moved:
        return project
    if "allow_remote_code" in moved:
        _check_may_trust(user)
    elif "target_path" in moved and project.allow_remote_code and not _may_trust(user):
        moved["allow_remote_code"] = [True, False]
    for name, (_old, new) in moved.items():
        setattr(project, name, new)
    with transaction.atomic():
        project.full_clean()
        project.save()
        record(user, "project.change", project, slug=project.slug, changes=moved)
    return project


def _may_trust(user: User | None) -> bool:
    return user is None or user.has_perm(TRUSTING)


def _check_may_trust(user: User | None) -> None:
    if not _may_trust(user):
        raise ValidationError({"allow_remote_code": f"This needs the permission {TRUSTING.partition('.')[2]}."})
