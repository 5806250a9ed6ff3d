"""Rules of what may be thrown away."""

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from eagle3web.domain import retention
from eagle3web.enums import Prunable
from eagle3web.models import AuditEntry, RetentionPolicy
from tests.support import factories

pytestmark = pytest.mark.django_db


def test_nothing_is_thrown_away_until_a_rule_is_switched_on() -> None:
    project = factories.project()
    factories.policy(Prunable.LOGS, enabled=False)
    assert (retention.rules_of(project), retention.is_on()) == ([], False)


def test_a_rule_of_all_projects_applies_to_each() -> None:
    factories.policy(Prunable.POINTS, days=7, keep_last=0)
    (rule,) = retention.rules_of(factories.project())
    assert (rule.kind, rule.days, rule.keep_last, rule.own) == (Prunable.POINTS, 7, 0, False)
    assert rule.words == "points go after 7 days (rule of all projects)"


def test_a_project_s_own_rule_stands_in_for_that_of_all_also_when_it_is_off() -> None:
    project, other = factories.project(), factories.project()
    factories.policy(Prunable.SHARDS)
    factories.policy(Prunable.SHARDS, project, enabled=False)
    assert retention.rules_of(project) == []
    assert len(retention.rules_of(other)) == 1


def test_the_last_log_of_a_run_stays_whatever_the_rule_says() -> None:
    factories.policy(Prunable.LOGS, keep_last=0)
    (rule,) = retention.rules_of(factories.project())
    assert rule.keep_last == 1
    assert rule.words == "logs go after 30 days, the last attempt of each run stays (rule of all projects)"


def test_setting_a_rule_is_audited_and_the_same_again_is_not() -> None:
    user = factories.user()
    for days in (60, 90, 90):
        retention.set_policy(Prunable.EVENTS, project=None, days=days, keep_last=2, enabled=True, user=user)
    assert RetentionPolicy.objects.get().days == 90
    entries = list(AuditEntry.objects.order_by("id").values_list("verb", "user", "detail"))
    assert [entry[:2] for entry in entries] == [("retention.change", user.pk)] * 2
    assert entries[1][2] == {"kind": "events", "project": "", "changes": {"days": [60, 90]}}


@pytest.mark.parametrize(("days", "keep"), [(0, 1), (-3, 1), (10**9, 1), (10, -1), (10, 10**9)])
def test_impossible_numbers_are_refused(days: int, keep: int) -> None:
    with pytest.raises(ValidationError):
        retention.set_policy(Prunable.LOGS, project=None, days=days, keep_last=keep, enabled=True, user=None)
    assert not RetentionPolicy.objects.exists()


def test_there_is_one_rule_a_kind_and_project() -> None:
    factories.policy(Prunable.LOGS)
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.policy(Prunable.LOGS)
    project = factories.project()
    factories.policy(Prunable.LOGS, project)
    with pytest.raises(IntegrityError), transaction.atomic():
        factories.policy(Prunable.LOGS, project)


def test_dropping_a_project_s_rule_brings_back_that_of_all() -> None:
    project = factories.project()
    factories.policy(Prunable.LOGS, days=5)
    own = factories.policy(Prunable.LOGS, project, enabled=False)
    retention.drop_policy(own, user=None)
    assert [rule.days for rule in retention.rules_of(project)] == [5]
    assert AuditEntry.objects.get().detail == {"kind": "logs", "project": project.slug}
