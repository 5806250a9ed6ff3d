"""Messages held over the end of a connection."""

import logging
from collections.abc import Iterator

import pytest
from kombu import Connection, Queue
from kombu.message import Message

from eagle3web import broker
from tests.support.system import System

log = logging.getLogger(__name__)


@pytest.fixture
def connection(bare_system: System) -> Iterator[Connection]:
    broker.mend()
    bare_system.start("valkey")
    with Connection(f"redis+socket://{bare_system.socket}") as made:
        yield made


def held_message(connection: Connection) -> Message:
    """One message that was received and is not acknowledged."""
    queue = Queue("held")(connection.default_channel)
    queue.declare()
    connection.Producer().publish({"n": 1}, routing_key="held")
    message = queue.get()
    assert message is not None
    return message


def test_a_connection_to_a_dead_broker_closes(connection: Connection, bare_system: System) -> None:
    message, errors = held_message(connection), connection.connection_errors
    bare_system.kill("valkey")
    # What Celery does with a connection that broke: drop the transport, then close.
    connection._do_close_transport()
    connection.close()
    with pytest.raises(errors, match="was closed"):
        message.ack()


def test_a_worker_only_notes_that_it_cannot_acknowledge(
    connection: Connection, bare_system: System, caplog: pytest.LogCaptureFixture
) -> None:
    message, errors = held_message(connection), connection.connection_errors
    bare_system.kill("valkey")
    connection._do_close_transport()
    message.ack_log_error(log, errors)
    assert "Couldn't ack" in caplog.text


def test_an_open_connection_acknowledges(connection: Connection) -> None:
    held_message(connection).ack()
    connection.close()
    assert Queue("held")(connection.default_channel).get() is None
