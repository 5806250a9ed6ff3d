"""Projects are made and changed with a trace."""

import pytest
from django.core.exceptions import ValidationError

from eagle3web.domain.projects import change_project, create_project
from eagle3web.models import AuditEntry, Project
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def test_create_keeps_its_author() -> None:
    ada = make.user("ada")
    project = create_project("k2", user=ada, name="K2 drafter", target_model="K2", tokenizer="/models/k2")
    assert (project.created_by, project.sampling) == (ada, {})
    assert AuditEntry.objects.get().verb == "project.create"


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"slug": "../etc"}, "slug"),
        ({"name": ""}, "name"),
        ({"sampling": {"temperature": "hot"}}, "sampling"),
        ({"chat_template_kwargs": ["x"]}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"x": float("inf")}}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"x": "\x00"}}, "chat_template_kwargs"),
        ({"chat_template_kwargs": {"x": "\ud800"}}, "chat_template_kwargs"),
    ],
)
def test_impossible_fields_are_refused_by_name(fields: dict[str, object], field: str) -> None:
    good: dict[str, object] = {"slug": "k2", "name": "K2", "target_model": "K2", "tokenizer": "/models/k2"}
    with pytest.raises(ValidationError) as caught:
        create_project(user=None, **good | fields)  # type: ignore[arg-type]
    assert list(caught.value.message_dict) == [field]
    assert Project.objects.count() == 0


def test_change_records_old_and_new() -> None:
    ada, project = make.user("ada"), make.project(name="Old")
    change_project(project, user=ada, name="New", target_model=project.target_model)
    assert Project.objects.get().name == "New"
    assert AuditEntry.objects.get().detail == {"slug": project.slug, "changes": {"name": ["Old", "New"]}}


def test_change_to_what_stands_leaves_no_trace() -> None:
    project = make.project()
    change_project(project, user=None, name=project.name)
    assert AuditEntry.objects.count() == 0


def test_code_of_a_target_may_run_only_where_somebody_with_that_permission_says_so() -> None:
    project, operator = make.project(target_path="/models/k2"), make.user(permissions=("change_project",))
    assert project.allow_remote_code is False
    with pytest.raises(ValidationError, match="This needs the permission allow_remote_code"):
        change_project(project, user=operator, allow_remote_code=True)
    with pytest.raises(ValidationError):
        create_project("k3", user=operator, name="K3", target_model="K3", tokenizer="/k3", allow_remote_code=True)
    assert not Project.objects.filter(allow_remote_code=True).exists()
    project.refresh_from_db()
    change_project(project, user=make.user(permissions=("allow_remote_code",)), allow_remote_code=True)
    assert Project.objects.get().allow_remote_code is True


def test_another_folder_takes_the_leave_for_its_code_away() -> None:
    project = make.project(target_path="/models/k2", allow_remote_code=True)
    change_project(project, user=make.user(permissions=("change_project",)), target_path="/models/mine")
    project.refresh_from_db()
    assert (project.target_path, project.allow_remote_code) == ("/models/mine", False)
    assert AuditEntry.objects.get().detail["changes"]["allow_remote_code"] == [True, False]
