"""Addresses that no engine has: what a machine says of itself to whoever is on it, and what is no single machine.

Judged for each connection, by the address that it is made to: what a name led to a moment before does not matter.
"""

import errno
import ipaddress
import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The dashboard asks of addresses and connects to none: it need not load a client for that.
    import aiohttp


def is_no_engine(address: str) -> bool:
    """Whether an IP address is link-local (clouds hand out credentials at 169.254.169.254), multicast, or nobody's."""
    found: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    found = mapped or found
    return found.is_link_local or found.is_multicast or found.is_unspecified or str(found) in METADATA


METADATA = frozenset({"fd00:ec2::254", "100.100.100.200"})
"""More addresses at which clouds tell a machine its secrets."""


def guarded_socket(info: "aiohttp.AddrInfoType") -> socket.socket:
    """The socket of a connection that is about to be made. Raises OSError where it would lead to no engine."""
    family, kind, protocol, _name, place = info
    if is_no_engine(str(place[0])):
        raise OSError(errno.EACCES, f"{place[0]} is no address of an engine")
    return socket.socket(family, kind, protocol)
