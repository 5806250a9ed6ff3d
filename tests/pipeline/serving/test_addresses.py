"""Where no engine is."""

import socket

import pytest

from pipeline.errors import EngineUnavailableError
from pipeline.serving.addresses import guarded_socket, is_no_engine
from pipeline.serving.transport import Transport
from tests.support.receivers import hook

NONE = [
    "169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254", "224.0.0.1", "ff02::1", "::",
    "fd00:ec2::254", "100.100.100.200",
]  # fmt: skip


@pytest.mark.parametrize("address", NONE)
def test_link_local_and_other_special_addresses_are_no_engines(address: str) -> None:
    assert is_no_engine(address)


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "10.0.0.7", "fd12::7", "203.0.113.9", "::ffff:10.0.0.7"])
def test_engines_may_be_on_this_machine_and_in_any_network(address: str) -> None:
    assert not is_no_engine(address)


def test_a_socket_to_such_an_address_is_not_made() -> None:
    with pytest.raises(OSError, match=r"169\.254\.169\.254 is no address of an engine"):
        guarded_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("169.254.169.254", 80)))
    guarded_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))).close()


@pytest.mark.parametrize("url", ["http://169.254.169.254", "http://[fe80::1]:80", "http://metadata.test:30000"])
async def test_no_request_goes_there_whatever_name_led_to_it(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The address is judged when the connection is made: a name that led elsewhere a moment ago does not matter."""
    real = socket.getaddrinfo

    def rebound(host: str, *args: object, **kwargs: object) -> object:
        return real("169.254.169.254" if host == "metadata.test" else host, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    transport = Transport(url, name="e1")
    with pytest.raises(EngineUnavailableError, match="is no address of an engine"):
        await transport.get("/latest/meta-data", timeout_s=5)
    await transport.close()


async def test_an_engine_sends_nobody_elsewhere() -> None:
    """A redirect is an error: it could lead to what this host alone can reach."""
    with hook() as found:
        found.status = 307
        transport = Transport(f"http://{found.address}", name="e1")
        with pytest.raises(EngineUnavailableError, match="HTTP 307"):
            await transport.post("/generate", {}, timeout_s=5)
        with pytest.raises(EngineUnavailableError, match="HTTP 307"):
            [event async for event in transport.events("/generate", {}, timeout_s=5)]
        await transport.close()
        assert [path for path, _ in found.calls] == ["/generate", "/generate"]
