"""Projects: one drafter for one target model."""

from typing import Any, TypedDict, Unpack

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


def create_project(slug: str, *, user: User | None, **fields: Unpack[ProjectFields]) -> Project:
    """Make a project. Raises ValidationError by field."""
    project = Project(slug=slug, created_by=user, **fields)
    with transaction.atomic():
        project.full_clean()
        project.save()
        record(user, "project.create", project, slug=slug)
    return project


def change_project(project: Project, *, user: User | None, **changes: Unpack[ProjectFields]) -> Project:
    """Change what future runs start with: runs that exist keep their frozen configs. Raises ValidationError by field."""
    moved = {name: [getattr(project, name), value] for name, value in changes.items() if getattr(project, name) != value}
    if not moved:
        return project
    for name, (_old, new) in moved.items():
        setattr(project, name, new)
    with transaction.atomic():
        project.full_clean()
        project.save()
        record(user, "project.change", project, slug=project.slug, changes=moved)
    return project
