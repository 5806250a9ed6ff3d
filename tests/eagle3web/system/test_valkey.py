"""The broker's program: one server a socket, and messages that survive it."""

import signal

import pytest
from django.conf import settings
from redis import Redis

from eagle3web.system.valkey import NotOursError, main
from tests.support.system import System


def test_valkey_refuses_a_server_that_is_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "REDIS_URL", "redis://elsewhere:6379")
    with pytest.raises(NotOursError, match="that server is not ours to start"):
        main()


@pytest.mark.slow
def test_valkey_keeps_messages_over_a_crash_and_refuses_a_second_server(bare_system: System) -> None:
    bare_system.start("valkey")
    with pytest.raises(NotOursError, match="a server answers on"):
        main()
    with Redis.from_url(settings.REDIS_URL) as client:
        client.set("kept", "yes")
        client.bgrewriteaof()
        # Everything is on disk within a second (appendfsync everysec); `WAITAOF` says when.
        assert client.execute_command("WAITAOF", 1, 0, 5000)[0] == 1
    bare_system.stop("valkey", sig=signal.SIGKILL)
    bare_system.start("valkey")
    with Redis.from_url(settings.REDIS_URL) as client:
        assert client.get("kept") == b"yes"


@pytest.mark.slow
def test_valkey_listens_on_its_socket_only(bare_system: System) -> None:
    bare_system.start("valkey")
    with Redis.from_url(settings.REDIS_URL) as client:
        assert client.config_get("port")["port"] == "0"
    assert bare_system.socket.stat().st_mode & 0o777 == 0o700
