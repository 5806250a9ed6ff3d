"""A stand-in for an SGLang server, with programmable behaviour. It is a real HTTP server; only the model is missing.

    python -m tests.support.stub_engine --port 0 --latency-s 0.2 --mean-tokens 80 --max-in-flight 16

prints `stub engine listening on http://127.0.0.1:PORT` once it accepts connections. Every field of `Behaviour` is a flag
(`--bad-token 7`), can be read with its counters at `GET /stub`, and can be changed while it runs:

    curl -X POST http://127.0.0.1:PORT/stub -d '{"hang": true}'

Endpoints: /health /health_generate /model_info /server_info /v1/loads /generate (single, batch, streaming) /v1/completions
/abort_request /flush_cache /stub. Answers depend on the prompt's ids, the seed and max_new_tokens alone (`answer_for`), so
that a test can recompute what must be on disk. In-process use: `with servers.stub_engine(Behaviour(…)) as (stub, url)`.
"""

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import uvicorn
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from pipeline.artifacts import write_json
from tests.support.stub_answers import EOS, Behaviour, StubAnswer, answer_for, draft_counts, draft_depths, text_of

__all__ = ["Behaviour", "StubAnswer", "StubEngine", "answer_for"]

Json = dict[str, Any]

STREAM_CHUNKS = 4


class _DisconnectedError(Exception):
    """The client went away."""


class _RejectedError(Exception):
    """An answer that is an HTTP error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(eq=False)
class _Job:
    """One prompt being answered."""

    rid: str
    answer: StubAnswer
    prompt_tokens: int
    seconds: float
    number: int
    draft_steps: int = 0
    tells_depths: bool = False
    wake: asyncio.Timeout | None = None
    aborted: bool = False
    started: float = 0.0

    def part(self, share: float) -> dict[str, Any]:
        """SGLang's answer after `share` of the work, finish reason None until the end."""
        ids = self.answer.ids if share >= 1 else self.answer.ids[: int(len(self.answer.ids) * share)]
        finish: dict[str, Any] | None = None
        if self.aborted:
            finish = {"type": "abort", "message": "Aborted"}
        elif share >= 1:
            kind = self.answer.finish_reason
            finish = {"type": kind, "matched": EOS} if kind == "stop" else {"type": kind, "length": len(ids)}
        meta: Json = {
            "id": self.rid,
            "finish_reason": finish,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": len(ids),
        }
        if self.draft_steps:
            meta |= draft_counts(ids, self.draft_steps)
            meta |= {"draft_depths": draft_depths(ids, self.draft_steps)} if self.tells_depths else {}
        return {
            "text": text_of(ids),
            "output_ids": list(ids),
            "meta_info": meta | {"cached_tokens": 0, "e2e_latency": self.seconds},
        }


@dataclass
class StubEngine:
    """The ASGI application. `behaviour` may be replaced at any time; `counts` and `answered` tell what happened."""

    behaviour: Behaviour = field(default_factory=Behaviour)
    counts: Counter[str] = field(default_factory=Counter)
    """requests, answers, busy, rejected, cut, aborted, disconnected, probes."""
    answered: Counter[str] = field(default_factory=Counter)
    """Request id, without the ending that the client adds after `~` → times it was answered in full."""
    in_flight: int = 0
    peak_in_flight: int = 0
    _jobs: set[_Job] = field(default_factory=set)
    _running: int = 0
    _slot_freed: asyncio.Event = field(default_factory=asyncio.Event)
    _first_seen: float | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        self._first_seen = self._first_seen or asyncio.get_running_loop().time()
        path = scope["path"].replace("/get_", "/")
        body: Json = {}
        try:
            body = await Request(scope, receive).json() if scope["method"] == "POST" else {}
            response = await self._answer(path, body, receive)
        except ValueError as error:
            response = JSONResponse({"error": {"message": f"bad JSON: {error}"}}, 400)
        except _RejectedError as error:
            self.counts["busy" if error.status == 503 else "rejected"] += 1
            streaming = error.status == 503 and body.get("stream")
            response = _event_stream(_refused(error)) if streaming else JSONResponse(_error_body(error), error.status)
        except _DisconnectedError:
            self.counts["disconnected"] += 1
            return
        await response(scope, receive, send)

    async def _answer(self, path: str, body: Json, receive: Receive) -> Response:
        if path in self._ROUTES:
            return await self._ROUTES[path](self, body, receive)
        if path in self.info():
            return JSONResponse(self.info()[path])
        raise _RejectedError(404, "Not Found")

    def stats(self) -> dict[str, Any]:
        told = {"behaviour": asdict(self.behaviour), "counts": dict(self.counts), "answered": dict(self.answered)}
        return told | {"in_flight": self.in_flight, "peak_in_flight": self.peak_in_flight}

    def info(self) -> dict[str, Json]:
        """What the paths answer that only tell something."""
        load = {"num_running_reqs": self._running, "num_waiting_reqs": self.in_flight - self._running, "gen_throughput": 0.0}
        drafts: Json = {}
        if steps := self.behaviour.draft_steps:
            drafts = {"speculative_algorithm": "EAGLE3", "speculative_num_steps": steps, "speculative_eagle_topk": 1}
            drafts |= {"speculative_num_draft_tokens": steps + 1}
        length, state = self.behaviour.context_length, {"last_gen_throughput": 0.0, "avg_spec_accept_length": None}
        return {
            "/model_info": {"model_path": "stub", "is_generation": True, "vocab_size": self.behaviour.vocab_size},
            "/server_info": {"model_path": "stub", "context_length": length, "version": "stub", "internal_states": [state]}
            | drafts,
            "/v1/loads": {"loads": [{"dp_rank": 0} | load]},
            "/v1/models": {"object": "list", "data": [{"id": "stub", "max_model_len": length}]},
        }

    def abort(self, rid: str | None) -> None:
        """End the request with this id, or all."""
        for job in [job for job in self._jobs if rid in (None, job.rid)]:
            job.aborted = True
            if job.wake is not None and not job.wake.expired():
                job.wake.reschedule(asyncio.get_running_loop().time())

    def _starting(self) -> bool:
        assert self._first_seen is not None
        return asyncio.get_running_loop().time() - self._first_seen < self.behaviour.startup_s

    async def _health(self, _body: Json, _receive: Receive) -> Response:
        return Response(None, 503 if self._starting() else 200)

    async def _health_generate(self, _body: Json, receive: Receive) -> Response:
        self.counts["probes"] += 1
        if self._starting():
            raise _RejectedError(503, "The server is starting.")
        await self._work(_Job("HEALTH_CHECK", answer_for([0], max_new_tokens=1), 1, self.behaviour.latency_s, 0), receive)
        return Response()

    async def _abort_request(self, body: Json, _receive: Receive) -> Response:
        self.abort(None if body.get("abort_all") else str(body.get("rid")))
        return Response()

    async def _flush_cache(self, _body: Json, _receive: Receive) -> Response:
        return Response(None, 400 if self.in_flight else 200)

    async def _stub(self, body: Json, _receive: Receive) -> Response:
        unknown = set(body or {}) - {f.name for f in fields(Behaviour)}
        if unknown:
            raise _RejectedError(400, f"unknown behaviour: {', '.join(sorted(unknown))}")
        self.behaviour = replace(self.behaviour, **(body or {}))
        return JSONResponse(self.stats())

    async def _generate(self, body: Json, receive: Receive) -> Response:
        sampling = body.get("sampling_params") or {}
        ids: Any = body.get("input_ids") or []
        rid: Any = body.get("rid")
        batch = bool(ids) and isinstance(ids[0], list)
        prompts, rids = (ids, rid or [None] * len(ids)) if batch else ([ids], [rid])
        with self._admitted(len(prompts)):
            jobs = [self._job(p, r, sampling, sampling.get("sampling_seed")) for p, r in zip(prompts, rids, strict=True)]
            for job in jobs:
                job.draft_steps, job.tells_depths = self.behaviour.draft_steps, bool(body.get("return_draft_depths"))
            if body.get("stream"):
                return _event_stream(self._stream(jobs[0], receive))
            # One receive channel for all: a batch is answered when its slowest prompt is.
            slowest = max(jobs, key=lambda job: job.seconds)
            await self._work(slowest, receive)
            parts = [self._finished(job) for job in jobs]
            return self._reply(parts if batch else parts[0], jobs[0])

    async def _completions(self, body: Json, receive: Receive) -> Response:
        sampling = {"max_new_tokens": body.get("max_tokens", 16), "ignore_eos": body.get("ignore_eos", False)}
        with self._admitted(1):
            job = self._job(body.get("prompt") or (), None, sampling, body.get("seed"))
            await self._work(job, receive)
            part = self._finished(job)
            meta = part["meta_info"]
            reason = meta["finish_reason"]["type"]
            choice = {"index": 0, "text": part["text"], "finish_reason": reason, "token_ids": part["output_ids"]}
            usage = {"prompt_tokens": meta["prompt_tokens"], "completion_tokens": meta["completion_tokens"]}
            return self._reply({"id": job.rid, "object": "text_completion", "choices": [choice], "usage": usage}, job)

    @contextlib.contextmanager
    def _admitted(self, prompts: int) -> Iterator[None]:
        """Count prompts inside the engine, from their arrival to their answer; 503 when it is full."""
        if self._starting() or self.behaviour.refuse:
            raise _RejectedError(503, "The server is starting.")
        limit = self.behaviour.max_in_flight
        if limit and self.in_flight + prompts > limit:
            raise _RejectedError(503, "The request queue is full.")
        with self._inside(prompts):
            yield

    @contextlib.contextmanager
    def _inside(self, prompts: int) -> Iterator[None]:
        self.in_flight += prompts
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)
        try:
            yield
        finally:
            self.in_flight -= prompts

    def _job(self, ids: Sequence[int], rid: str | None, sampling: dict[str, Any], seed: int | None) -> _Job:
        how = self.behaviour
        if not ids or not all(isinstance(token, int) for token in ids):
            raise _RejectedError(400, "input_ids must be a list of token ids that is not empty.")
        if how.bad_token in ids or len(ids) > how.context_length:
            raise _RejectedError(400, f"The prompt cannot be served: {len(ids)} tokens.")
        self.counts["requests"] += 1
        number = self.counts["requests"]
        longest, endless = sampling.get("max_new_tokens", 128), sampling.get("ignore_eos", False)
        answer = answer_for(ids, seed=seed or 0, max_new_tokens=longest, ignore_eos=endless, behaviour=how)
        return _Job(rid or f"stub-{number}", answer, len(ids), how.latency_s + how.token_s * len(answer.ids), number)

    async def _work(self, job: _Job, receive: Receive) -> None:
        """Take the time that the answer takes. Raises _DisconnectedError as soon as the client is gone."""
        self._jobs.add(job)
        while self.behaviour.slots and self._running >= self.behaviour.slots and not job.aborted:
            self._slot_freed.clear()
            await self._slot_freed.wait()
        self._running += 1
        job.started = asyncio.get_running_loop().time()
        try:
            await self._sleep(job, job.seconds, receive)
        finally:
            self._running -= 1
            self._slot_freed.set()
            self._jobs.discard(job)

    async def _sleep(self, job: _Job, seconds: float, receive: Receive) -> None:
        if job.aborted:
            return
        try:
            async with asyncio.timeout(None if self.behaviour.hang else seconds) as job.wake:
                while (await receive())["type"] != "http.disconnect":
                    pass  # the request's own body, where nobody read it
        except TimeoutError:
            return
        raise _DisconnectedError

    def _finished(self, job: _Job) -> dict[str, Any]:
        every = self.behaviour.abort_every
        job.aborted |= bool(every) and job.number % every == 0
        if not job.aborted:
            return job.part(1.0)
        self.counts["aborted"] += 1
        done = asyncio.get_running_loop().time() - job.started
        return job.part(min(0.5, done / job.seconds if job.seconds else 0.5))

    async def _stream(self, job: _Job, receive: Receive) -> AsyncIterator[dict[str, Any]]:
        step = replace(job, seconds=job.seconds / STREAM_CHUNKS)
        with self._inside(1):
            for chunk in range(1, STREAM_CHUNKS + 1):
                await self._work(step, receive)
                if step.aborted or chunk == STREAM_CHUNKS:
                    break
                yield step.part(chunk / STREAM_CHUNKS)
            yield self._finished(step)
        await self._count_answer(step)

    def _reply(self, body: Json | list[Json], job: _Job) -> Response:
        every = self.behaviour.cut_every
        if every and job.number % every == 0:
            self.counts["cut"] += 1
            return _CutResponse()
        return JSONResponse(body, background=BackgroundTask(self._count_answer, job))

    async def _count_answer(self, job: _Job) -> None:
        if job.aborted:
            return
        self.counts["answers"] += 1
        self.answered[job.rid.partition("~")[0]] += 1
        if self.behaviour.die_after and self.counts["answers"] >= self.behaviour.die_after:
            os.kill(os.getpid(), signal.SIGKILL)

    _ROUTES = {
        "/health": _health, "/health_generate": _health_generate, "/generate": _generate, "/v1/completions": _completions,
        "/abort_request": _abort_request, "/flush_cache": _flush_cache, "/stub": _stub,
    }  # fmt: skip


def _error_body(error: _RejectedError) -> dict[str, Any]:
    if error.status == 503:
        return {"object": "error", "message": str(error), "type": "ServiceUnavailableError", "param": None, "code": 503}
    return {"error": {"message": str(error)}}


async def _refused(error: _RejectedError) -> AsyncIterator[dict[str, Any]]:
    """A 503 as SGLang sends it to a streaming client: an answer that ends at once."""
    finish = {"type": "abort", "message": str(error), "status_code": error.status}
    yield {"text": "", "output_ids": [], "meta_info": {"id": "", "finish_reason": finish}}


def _event_stream(parts: AsyncIterator[Json]) -> Response:
    async def lines() -> AsyncIterator[str]:
        async for part in parts:
            yield f"data: {json.dumps(part)}\n\n"
        yield "data: [DONE]\n\n"

    return StreamingResponse(lines(), media_type="text/event-stream")


class _CutResponse(Response):
    """A body that ends before its declared length: the server closes the connection under the client."""

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4096")]})
        await send({"type": "http.response.body", "body": b'{"te', "more_body": True})


def _parse(argv: Sequence[str] | None) -> tuple[argparse.Namespace, Behaviour]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free port")
    parser.add_argument("--ready-file", type=Path, help='gets {"url", "pid"}, as the embedded engine has it')
    for f in fields(Behaviour):
        flag = f"--{f.name.replace('_', '-')}"
        if isinstance(f.default, bool):
            parser.add_argument(flag, action="store_true")
        else:
            parser.add_argument(flag, type=type(f.default), default=f.default)
    args = parser.parse_args(argv)
    return args, Behaviour(**{f.name: getattr(args, f.name) for f in fields(Behaviour)})


def main(argv: Sequence[str] | None = None) -> None:
    args, behaviour = _parse(argv)
    listener = socket.create_server((args.host, args.port), backlog=2048)
    url = f"http://{args.host}:{listener.getsockname()[1]}"
    sys.stdout.write(f"stub engine listening on {url}\n")
    sys.stdout.flush()
    if args.ready_file is not None:
        write_json(args.ready_file, {"url": url, "pid": os.getpid()})
    config = uvicorn.Config(StubEngine(behaviour), lifespan="off", ws="none", log_level="critical", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
