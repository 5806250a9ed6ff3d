import pytest

from eagle3web.domain.people import issue_token
from eagle3web.queries.people import channels_of, last_notifications, tokens_of
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def test_only_ones_own_things_are_found() -> None:
    ada, ben = make.user("ada"), make.user("ben")
    for user in (ada, ben):
        issue_token(user, f"of {user}")
        channel = make.channel(user, name=f"channel of {user}")
        for number in range(12):
            make.notification(channel, subject=f"{user} {number}")
    assert [token.name for token in tokens_of(ada.pk)] == ["of ada"]
    assert [channel.name for channel in channels_of(ada.pk)] == ["channel of ada"]
    assert [row.subject for row in last_notifications(ada.pk)] == [f"ada {number}" for number in range(11, 1, -1)]
