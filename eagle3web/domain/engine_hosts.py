"""Where engines may be: this server and its workers talk to them, and must not be sent to whatever else they can reach.

A connection to a link-local address is refused anywhere (pipeline.serving.addresses); redirects are never followed. Beyond that
an administrator can name the hosts.
"""

import ipaddress
from urllib.parse import urlsplit

from django.conf import settings

from pipeline.serving.addresses import is_no_engine


def check_engine_host(url: str) -> None:
    """Raises ValueError, for a person, when engines must not be at this address. Asks no name server: names can change."""
    parts = urlsplit(url)
    host, port = (parts.hostname or "").lower(), parts.port or {"https": 443}.get(parts.scheme, 80)
    literal = _address(host)
    if literal is not None and is_no_engine(str(literal)):
        raise ValueError(f"{host} is a link-local or multicast address: no engine is there.")
    allowed: list[str] = settings.EAGLE3_ENGINE_HOSTS
    if allowed and not any(_matches(wanted.strip().lower(), host, port) for wanted in allowed):
        raise ValueError(f"An administrator names the hosts of engines in EAGLE3_ENGINE_HOSTS; {host[:100]}:{port} is not one.")


def _matches(wanted: str, host: str, port: int) -> bool:
    """HOST, HOST:PORT, .DOMAIN for all below it, or NETWORK/BITS for addresses that are written as such."""
    if "/" in wanted:
        literal = _address(host)
        return literal is not None and literal in ipaddress.ip_network(wanted, strict=False)
    if wanted.startswith("."):
        return host.endswith(wanted)
    return wanted.strip("[]") == host or wanted in {f"{host}:{port}", f"[{host}]:{port}"}


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
