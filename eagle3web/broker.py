"""Kombu's Redis channel, mended: what uses a connection after its end fails as a connection does.

When the broker goes away while a worker holds messages that it has not acknowledged, kombu 5.7 closes the connection and then
looks for the address of the closed one to give those messages back: an AttributeError, which ends the worker. As a
ConnectionError it is what Celery expects there: logged, and the worker connects again.
"""

from typing import Any

from kombu.transport import redis
from redis.exceptions import ConnectionError as BrokerConnectionError


class Channel(redis.Channel):
    def _connparams(self, asynchronous: bool = False) -> dict[str, Any]:
        """How to connect. Raises BrokerConnectionError when the connection that knew is closed."""
        if self.connection is None or self.connection.client is None:
            raise BrokerConnectionError("this connection to the broker was closed")
        found: dict[str, Any] = super()._connparams(asynchronous)  # type: ignore[misc] # private, so not in the stubs
        return found


def mend() -> None:
    """Make every later Redis connection of kombu use this channel."""
    redis.Transport.Channel = Channel
