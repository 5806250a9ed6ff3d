"""HTTP to one engine: JSON in and out, event streams, and every failure as one of `pipeline.errors`."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp

from pipeline.errors import BadRequestError, EngineBusyError, EngineError, EngineUnavailableError
from pipeline.serving.addresses import guarded_socket

MESSAGE_CHARS = 500
CONNECT_S = 10.0
# uvicorn, SGLang's server too, closes a connection that idled for 5 s; one that we let go earlier is never cut under a request.
KEEPALIVE_S = 3.0


class NotFoundError(EngineUnavailableError):
    """404: this server has no such path; an older version may have another."""


class TimedOutError(EngineUnavailableError):
    """Connected, and no whole answer within its time."""


class Transport:
    """A connection pool to one base URL. Opens on first use, in the running event loop."""

    def __init__(self, base_url: str, *, name: str) -> None:
        self._base = base_url.rstrip("/")
        self._name = name
        self._session: aiohttp.ClientSession | None = None

    async def get(self, path: str, *, timeout_s: float) -> Any:  # noqa: ANN401  (any JSON value)
        return await self._json("GET", path, None, timeout_s)

    async def post(self, path: str, body: Mapping[str, Any], *, timeout_s: float) -> Any:  # noqa: ANN401  (any JSON value)
        return await self._json("POST", path, body, timeout_s)

    async def _json(self, method: str, path: str, body: Mapping[str, Any] | None, timeout_s: float) -> Any:  # noqa: ANN401
        """The body of a 2xx answer, None when it is empty. Raises EngineUnavailableError, EngineBusyError, BadRequestError."""
        limit = _limit(timeout_s)
        try:
            async with self._open().request(
                method, self._base + path, json=body, timeout=limit, allow_redirects=False
            ) as response:
                raw = await response.read()
                if response.status >= 300:
                    raise self._refusal(path, response.status, raw)
                return parse_json(raw) if raw else None
        except aiohttp.ConnectionTimeoutError as error:
            raise EngineUnavailableError(f"{self._name}: no connection to {self._base} in time") from error
        except TimeoutError as error:
            raise TimedOutError(f"{self._name}: no answer to {path} within {timeout_s:g} s") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise EngineUnavailableError(f"{self._name}: {describe(error)}") from error

    async def events(self, path: str, body: Mapping[str, Any], *, timeout_s: float) -> AsyncIterator[Any]:
        """Yield each `data:` line of an event stream as JSON, until `[DONE]`. Raises what `post` raises."""
        limit = _limit(timeout_s)
        try:
            async with self._open().post(self._base + path, json=body, timeout=limit, allow_redirects=False) as response:
                if response.status >= 300:
                    raise self._refusal(path, response.status, await response.read())
                async for data in _data_lines(response.content):
                    if data == b"[DONE]":
                        return
                    yield parse_json(data)
        except aiohttp.ConnectionTimeoutError as error:
            raise EngineUnavailableError(f"{self._name}: no connection to {self._base} in time") from error
        except TimeoutError as error:
            raise TimedOutError(f"{self._name}: no end of {path} within {timeout_s:g} s") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            raise EngineUnavailableError(f"{self._name}: {describe(error)}") from error
        raise EngineUnavailableError(f"{self._name}: the stream ended in the middle of an answer")

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None or self._session.closed:
            connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S, socket_factory=guarded_socket)
            # Engines are addressed directly: a proxy from the environment would break long answers.
            self._session = aiohttp.ClientSession(connector=connector, trust_env=False)
        return self._session

    def _refusal(self, path: str, status: int, raw: bytes) -> EngineError:
        return refusal(status, f"{self._name}: {message_of(raw) or f'HTTP {status} from {path}'}")


def refusal(status: int, message: str) -> EngineError:
    """The error that a status stands for, as HTTP status or as a `status_code` inside an aborted answer."""
    if status in (429, 503):
        return EngineBusyError(message)
    if status in (400, 413, 422):
        return BadRequestError(message)
    if status == 404:
        return NotFoundError(message)
    return EngineUnavailableError(message if str(status) in message else f"{message} (HTTP {status})")


def message_of(raw: bytes) -> str:
    """The text of an error body, in any of the shapes that engines send, cut to MESSAGE_CHARS."""
    try:
        body = json.loads(raw)
    except ValueError:
        return raw.decode(errors="replace")[:MESSAGE_CHARS].strip()
    inner = body.get("error", body) if isinstance(body, dict) else body
    text = inner.get("message") or inner.get("detail") if isinstance(inner, dict) else inner
    return str(text or "")[:MESSAGE_CHARS]


def parse_json(raw: bytes) -> Any:  # noqa: ANN401  (any JSON value)
    try:
        return json.loads(raw)
    except ValueError:
        # /health and /flush_cache answer in words.
        return raw.decode(errors="replace")


def describe(error: BaseException) -> str:
    """A sentence for a person, in place of a library's class name."""
    if isinstance(error, aiohttp.ClientConnectorError):
        return f"no connection to {error.host}:{error.port} ({error.os_error.strerror or error.os_error})"
    if isinstance(error, (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, aiohttp.ClientOSError, ConnectionError)):
        return "the connection was cut before the answer came"
    return str(error) or type(error).__name__


def _limit(timeout_s: float) -> aiohttp.ClientTimeout:
    """For connecting a part of the whole, so that a host that is away is told from a server that says nothing."""
    return aiohttp.ClientTimeout(total=timeout_s, connect=min(CONNECT_S, 0.8 * timeout_s))


async def _data_lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """The payload of each `data:` line; lines may be of any length, since the text in them is cumulative."""
    rest = b""
    async for block in stream.iter_any():
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line[5:].strip()


async def quietly(awaitable: Any, *, timeout_s: float) -> None:  # noqa: ANN401  (any awaitable)
    """Wait for something whose failure changes nothing, such as an abort sent to an engine that has died."""
    try:
        async with asyncio.timeout(timeout_s):
            await awaitable
    except (TimeoutError, EngineError):
        return
