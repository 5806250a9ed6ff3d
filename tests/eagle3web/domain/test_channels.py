import pytest

from eagle3web.domain.channels import remove_channel, save_channel
from eagle3web.models import AuditEntry, Notification, NotificationChannel
from tests.support import factories as make

pytestmark = pytest.mark.django_db
SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"


def test_channel_is_kept_with_a_trace_that_holds_no_address() -> None:
    ada, project = make.user("ada"), make.project()
    channel = save_channel(NotificationChannel(user=ada, name="team", url=SLACK), projects=[project], user=ada)
    save_channel(channel, projects=[], user=ada)
    assert list(channel.projects.all()) == []
    assert [entry.verb for entry in AuditEntry.objects.order_by("id")] == ["channel.add", "channel.change"]
    assert "TIiajk" not in str(AuditEntry.objects.values())


def test_address_that_is_not_allowed_is_not_kept() -> None:
    ada = make.user("ada")
    with pytest.raises(ValueError, match="are sent to these"):
        save_channel(NotificationChannel(user=ada, name="x", url="json://10.0.0.7/"), projects=[], user=ada)
    assert (NotificationChannel.objects.count(), AuditEntry.objects.count()) == (0, 0)


def test_removed_channel_takes_its_messages_along() -> None:
    channel = make.channel(make.user("ada"), url=SLACK)
    make.notification(channel)
    remove_channel(channel, user=channel.user)
    assert (NotificationChannel.objects.count(), Notification.objects.count()) == (0, 0)
