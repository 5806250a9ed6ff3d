"""Three groups, whose permissions stand in code."""

import pytest
from django.contrib.auth.models import Group, Permission

from eagle3web.domain.roles import PERMISSIONS, admit_to_admin, ensure_groups
from eagle3web.enums import Role
from eagle3web.models import User
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def codenames(role: Role) -> set[str]:
    return set(Group.objects.get(name=role).permissions.values_list("codename", flat=True))


@pytest.mark.parametrize("role", list(Role))
def test_migrate_gives_each_group_its_permissions(role: Role) -> None:
    assert codenames(role) == PERMISSIONS[role]


def test_creating_groups_again_restores_them() -> None:
    viewer = Group.objects.get(name=Role.VIEWER)
    viewer.permissions.add(Permission.objects.get(codename="delete_run"))
    Group.objects.get(name=Role.OPERATOR).delete()
    for _ in range(2):
        ensure_groups()
    assert {role: codenames(role) for role in Role} == dict(PERMISSIONS)


def test_roles_differ_where_it_matters() -> None:
    can = {role: make.user(groups=(role,)) for role in Role}
    holders = {
        codename: {role for role, user in can.items() if user.has_perm(f"eagle3web.{codename}")}
        for codename in ("view_run", "change_run", "change_tokenbudget", "view_auditentry", "change_user")
    }
    assert holders == {
        "view_run": set(Role),
        "change_run": {Role.OPERATOR},
        "change_tokenbudget": {Role.BUDGET_ADMIN},
        "view_auditentry": set(),
        "change_user": set(),
    }


@pytest.mark.parametrize(("role", "staff"), [(Role.VIEWER, False), (Role.OPERATOR, True), (Role.BUDGET_ADMIN, True)])
def test_only_those_with_work_there_enter_the_admin(role: Role, staff: bool) -> None:
    user = make.user(groups=(role,))
    admit_to_admin(user)
    assert User.objects.get(pk=user.pk).is_staff is staff


def test_superuser_stays_in_the_admin_without_a_role() -> None:
    user = make.user(is_superuser=True, is_staff=True)
    admit_to_admin(user)
    assert user.is_staff
