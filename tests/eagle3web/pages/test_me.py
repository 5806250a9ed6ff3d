import pytest

from eagle3web.enums import NotificationKind
from eagle3web.pages.me import me, shown_channel
from tests.support import factories as make

pytestmark = pytest.mark.django_db


def test_channel_is_put_into_words_without_its_address() -> None:
    channel = make.channel(make.user("ada"), url="slack://TOKEN/A/B")
    shown = shown_channel(channel)
    assert (shown.service, shown.kinds, shown.where) == ("slack://…", "everything", "all runs of all projects")
    channel.kinds, channel.own_runs_only = [NotificationKind.LOST, "of old"], True
    channel.projects.add(make.project(name="Kimi"))
    shown = shown_channel(channel)
    assert (shown.kinds, shown.where) == ("a run was lost, of old", "my runs of Kimi")


def test_token_without_scopes_is_good_for_everything() -> None:
    ada = make.user("ada")
    ada.api_tokens.create(name="old", digest="0" * 64, prefix="e3_abcde")
    (shown,) = me(ada)["tokens"]
    assert (shown.scopes, shown.expired) == (["everything"], False)
