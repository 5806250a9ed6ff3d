"""Calls to the API: a token, JSON both ways, and one named failure for each way in which it can say no."""

import os
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any, Self

import httpx

from pipeline.errors import ConfigError, PipelineError

URL, TOKEN = "EAGLE3_URL", "EAGLE3_TOKEN"
HERE = "http://127.0.0.1:8000"
TIMEOUT_S = 30.0
PAGE = 500
"""Rows that the API gives at most at once."""


class RemoteError(PipelineError):
    """The dashboard did not do what it was asked. `code` is the exit code."""

    code = 1


class RefusedError(RemoteError):
    """There is no such thing, it does not fit what stands now, or the input is wrong."""


class NotAllowedError(RemoteError):
    """The token is missing, unknown or expired, or its owner may not do this."""

    code = 4


class NoAnswerError(RemoteError):
    """Nobody answers there, or not as the dashboard does; asking again may help."""

    code = 5


class Remote:
    """One dashboard, as one person sees it."""

    def __init__(self, url: str, token: str, *, timeout_s: float = TIMEOUT_S) -> None:
        self.url = url.rstrip("/")
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._client = httpx.Client(base_url=f"{self.url}/api", headers=headers, timeout=timeout_s)

    @classmethod
    def configured(cls, url: str | None, token: str | None) -> "Remote":
        """By flags, else by EAGLE3_URL and EAGLE3_TOKEN. Raises ConfigError for what is no address or no token."""
        where = url or os.environ.get(URL) or HERE
        parts = httpx.URL(where) if where.isprintable() else httpx.URL("")
        if parts.scheme not in ("http", "https") or not parts.host:
            raise ConfigError(f"{where!r} is no address; write http://HOST:PORT in --url or {URL}")
        secret = (token or os.environ.get(TOKEN) or "").strip()
        if not (secret.isascii() and secret.isprintable()):
            raise ConfigError(f"the token in --token or {TOKEN} has characters that no token has")
        return cls(where, secret)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._client.close()

    def get(self, path: str, **query: Any) -> Any:  # noqa: ANN401  (JSON)
        wanted = {name: value for name, value in query.items() if value not in (None, "")}
        return self._call("GET", path, params=wanted)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
        return self._call("POST", path, json=body or {})

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:  # noqa: ANN401
        return self._call("PATCH", path, json=body)

    def rows(self, path: str, *, limit: int | None = None, **query: Any) -> Iterator[dict[str, Any]]:
        """The rows of all pages, or the first `limit`."""
        offset = 0
        while limit is None or offset < limit:
            size = PAGE if limit is None else min(PAGE, limit - offset)
            page = self.get(path, limit=size, offset=offset, **query)
            yield from page["items"]
            offset += len(page["items"])
            if not page["items"] or offset >= page["count"]:
                return

    def _call(self, method: str, path: str, **how: Any) -> Any:  # noqa: ANN401
        try:
            answer = self._client.request(method, path, **how)
        except httpx.TimeoutException as error:
            raise NoAnswerError(f"{self.url} does not answer in time; try again in a moment") from error
        except httpx.HTTPError as error:
            raise NoAnswerError(f"{self.url} cannot be reached: {error}; is it the right --url, and does it run?") from error
        return self._taken(answer)

    def _taken(self, answer: httpx.Response) -> Any:  # noqa: ANN401
        """The JSON of an answer. Raises what its status means."""
        try:
            body = answer.json()
        except ValueError as error:
            raise NoAnswerError(f"{self.url} answers {answer.status_code} and no JSON; is eagle3web there?") from error
        if answer.is_success:
            return body
        detail = str(body.get("detail", "")) if isinstance(body, dict) else ""
        if answer.status_code == 401:
            how = f"set {TOKEN} or --token; on the server, manage.py api_token USER NAME makes one"
            raise NotAllowedError(f"not signed in: {how}")
        if answer.status_code == 403:
            raise NotAllowedError(f"not allowed: {detail}")
        if answer.status_code >= 500 or answer.status_code == 429:
            # Whoever follows a run asks again.
            raise NoAnswerError(detail or f"{self.url} answers {answer.status_code}")
        raise RefusedError(detail or f"{self.url} answers {answer.status_code}")
