"""Errors of HTTP and of the network, as named failures."""

import json

import pytest

from pipeline.errors import BadRequestError, EngineBusyError, EngineUnavailableError
from pipeline.serving.transport import NotFoundError, TimedOutError, Transport, message_of, refusal
from tests.support.servers import stub_engine
from tests.support.stub_engine import Behaviour


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, BadRequestError),
        (413, BadRequestError),
        (422, BadRequestError),
        (429, EngineBusyError),
        (503, EngineBusyError),
        (404, NotFoundError),
        (500, EngineUnavailableError),
    ],
)
def test_refusal_maps_a_status_to_a_named_failure(status: int, error: type[Exception]) -> None:
    assert type(refusal(status, "no")) is error


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "too long"}}, "too long"),
        ({"object": "error", "message": "The request queue is full.", "code": 503}, "The request queue is full."),
        ({"detail": "Not Found"}, "Not Found"),
        ({"error": "plain"}, "plain"),
        (["odd"], "['odd']"),
    ],
)
def test_message_of_reads_every_shape_of_error(body: object, message: str) -> None:
    assert message_of(json.dumps(body).encode()) == message


def test_message_of_cuts_a_page_that_is_no_json() -> None:
    assert message_of(b"<html>" + b"x" * 5000) == "<html>" + "x" * 494


async def test_no_server_is_unavailable_and_says_where() -> None:
    transport = Transport("http://127.0.0.1:1", name="a")
    with pytest.raises(EngineUnavailableError, match=r"a: no connection to 127\.0\.0\.1:1"):
        await transport.get("/health", timeout_s=5)
    await transport.close()


async def test_a_slow_answer_times_out() -> None:
    with stub_engine(Behaviour(latency_s=30)) as (_, url):
        transport = Transport(url, name="a")
        with pytest.raises(TimedOutError, match=r"a: no answer to /generate within 0\.2 s"):
            await transport.post("/generate", {"input_ids": [1]}, timeout_s=0.2)
        await transport.close()


async def test_an_empty_body_and_a_text_body_are_answers() -> None:
    with stub_engine() as (_, url):
        transport = Transport(url + "/", name="a")
        assert await transport.get("/health", timeout_s=5) is None
        await transport.close()
