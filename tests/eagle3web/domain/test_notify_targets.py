"""Where messages may go, and what is shown of an address."""

import pytest
from pytest_django import Settings

from eagle3web.domain.notify_targets import ASSET, PUBLIC, check_target, schemes, service_of, without_secrets

SLACK = "slack://T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"
NONE_ALLOWED: list[str] = []


@pytest.fixture(autouse=True)
def hosts(settings: Settings) -> None:
    settings.EAGLE3_NOTIFY_HOSTS = ["hooks.example", "10.0.0.7:8443", "mail.example"]


@pytest.mark.parametrize(
    "url",
    [
        SLACK,
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "tgram://123456789:abcdefg_hijklmnop/12315544",
        "json://hooks.example/a?+X-Key=1",
        "jsons://name:word@HOOKS.example:9000/a",
        "jsons://10.0.0.7:8443/a",
        "mailtos://name:word@mail.example?to=ada@example.org&from=bot@example.org",
    ],
)
def test_public_services_and_allowed_hosts_are_taken(url: str) -> None:
    assert check_target(url).redirects is False


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("json://10.0.0.8/a", "names hosts in EAGLE3_NOTIFY_HOSTS"),
        ("json://10.0.0.7/a", "names hosts in EAGLE3_NOTIFY_HOSTS"),
        ("json://10.0.0.7:80/a", "names hosts in EAGLE3_NOTIFY_HOSTS"),
        ("json://169.254.169.254/latest", "names hosts in EAGLE3_NOTIFY_HOSTS"),
        ("json://hooks.example.evil.example/", "names hosts in EAGLE3_NOTIFY_HOSTS"),
        ("json://hooks.example@10.0.0.8/", "names hosts in EAGLE3_NOTIFY_HOSTS"),
        ("mailto://name:word@gmail.com", "smtp.gmail.com"),
        ("mailto://name:word@mail.example?smtp=10.0.0.8&to=a@b.de", "The parameter smtp is not taken"),
        ("json://hooks.example/?redirect=yes", "The parameter redirect is not taken"),
        (f"{SLACK}?template=/etc/passwd", "The parameter template is not taken"),
        (f"{SLACK}?attach=http://10.0.0.8/", "The parameter attach is not taken"),
        ("syslog://", "are sent to these"),
        ("dbus://", "are sent to these"),
        ("file:///etc/passwd", "are sent to these"),
        ("http://10.0.0.8/", "are sent to these"),
        ("no address", "are sent to these"),
        ("slack://", "no address that slack understands"),
        ("json://[", "no address"),
    ],
)
def test_everything_else_is_refused_with_a_reason(url: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        check_target(url)


def test_without_allowed_hosts_only_public_services_are_there(settings: Settings) -> None:
    settings.EAGLE3_NOTIFY_HOSTS = NONE_ALLOWED
    assert schemes() == PUBLIC
    with pytest.raises(ValueError, match="are sent to these"):
        check_target("json://hooks.example/")


def test_messages_name_no_picture_elsewhere() -> None:
    assert not ASSET.image_url_mask
    assert not ASSET.app_url


def test_what_is_shown_of_an_address_holds_no_secret() -> None:
    assert service_of(SLACK) == "slack://…"
    assert service_of("jsons://name:word@hooks.example/tokentoken?k=v") == "jsons://hooks.example/…"
    assert service_of("json://[") == "json:///…"


def test_errors_lose_every_part_of_the_address() -> None:
    url = "jsons://name:pass%20word@hooks.example/tokentoken?+Key=secretvalue"
    said = "name sent pass word, pass%20word, tokentoken and secretvalue to hooks.example"
    assert without_secrets(said, url) == "… sent …, …, … and … to hooks.example"
