"""The HTTP side: the part of SGLang's API that this project speaks, with SGLang's shapes for answers and errors."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import torch
import transformers
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from pipeline.errors import BadRequestError, EngineBusyError
from pipeline.serving.embedded.engine import Engine
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.requests import (
    AbortRequest,
    CompletionRequest,
    GenerateRequest,
    SamplingParams,
    parse,
    request_ids,
)

PROOF_S = 20.0
"""How long /health_generate waits for the model to move."""
CLIENT_GONE = 499


def create_app(engine: Engine) -> Starlette:
    """The ASGI application of one engine; it starts with the application and stops with it."""
    api = _Api(engine)
    routes = [
        Route("/health", api.health),
        Route("/health_generate", api.health_generate),
        Route("/model_info", api.model_info),
        Route("/get_model_info", api.model_info),
        Route("/server_info", api.server_info),
        Route("/get_server_info", api.server_info),
        Route("/v1/loads", api.loads),
        Route("/v1/models", api.models),
        Route("/generate", api.generate, methods=["POST"]),
        Route("/v1/completions", api.completions, methods=["POST"]),
        Route("/abort_request", api.abort_request, methods=["POST"]),
        Route("/flush_capture", api.flush_capture, methods=["POST"]),
        Route("/flush_cache", api.flush_cache, methods=["GET", "POST"]),
    ]
    handlers: dict[Any, Any] = {BadRequestError: _bad_request, EngineBusyError: _busy}

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        engine.start()
        yield
        engine.stop()

    return Starlette(routes=routes, exception_handlers=handlers, lifespan=lifespan)


class _Api:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def health(self, _request: Request) -> Response:
        return Response(status_code=200 if self._engine.is_ready else 503)

    async def health_generate(self, _request: Request) -> Response:
        """200 once the model has made a step since the question was asked, be it for others: proof that it generates."""
        scheduler, steps = self._engine.scheduler, self._engine.scheduler.steps
        jobs: list[Job] = []
        with contextlib.suppress(EngineBusyError):  # a full queue has steps of its own to look at
            jobs = self._engine.submit([(0,)], SamplingParams(temperature=0, max_new_tokens=1), request_ids(None, 1))
        deadline = time.perf_counter() + PROOF_S
        while scheduler.steps == steps and time.perf_counter() < deadline:
            await asyncio.sleep(0.01)
        self._engine.abort(jobs, "no longer needed")
        return Response(status_code=200 if scheduler.steps > steps else 503)

    async def model_info(self, _request: Request) -> Response:
        model = self._engine.model
        info = {"model_path": model.path, "tokenizer_path": model.path, "is_generation": True, "weight_version": "default"}
        return JSONResponse(info | {"vocab_size": model.runner.vocab_size})

    async def server_info(self, _request: Request) -> Response:
        model, scheduler = self._engine.model, self._engine.scheduler
        capture = self._engine.capture
        state = {"last_gen_throughput": scheduler.gen_throughput, "avg_spec_accept_length": scheduler.accept_length}
        return JSONResponse(
            {
                "model_path": model.path,
                "version": f"embedded, transformers {transformers.__version__}, torch {torch.__version__}",
                "context_length": model.runner.context_length,
                "max_total_num_tokens": model.max_total_tokens,
                "internal_states": [state],
                "capture": None if capture is None else capture.status(),
            }
        )

    async def loads(self, _request: Request) -> Response:
        scheduler = self._engine.scheduler
        load: dict[str, Any] = {
            "dp_rank": 0,
            "num_running_reqs": scheduler.running,
            "num_waiting_reqs": scheduler.waiting,
            "gen_throughput": scheduler.gen_throughput,
        }
        if scheduler.accept_length is not None:
            load["speculative"] = {"accept_length": scheduler.accept_length}
        return JSONResponse({"loads": [load]})

    async def models(self, _request: Request) -> Response:
        model = self._engine.model
        served = {"id": model.path, "object": "model", "max_model_len": model.runner.context_length}
        return JSONResponse({"object": "list", "data": [served]})

    async def generate(self, request: Request) -> Response:
        body = parse(GenerateRequest, await request.body())
        prompts, is_batch = self._prompts(body)
        if body.stream and is_batch:
            raise BadRequestError("streaming takes one prompt at a time")
        if body.capture is not None and len(prompts) != 1:
            raise BadRequestError("a captured request has one prompt")
        jobs = self._engine.submit(prompts, body.sampling_params, request_ids(body.rid, len(prompts)), body.capture)
        if body.stream:
            return StreamingResponse(self._events(jobs[0], body.return_draft_depths), media_type="text/event-stream")
        if not await self._finished_before_disconnect(request, jobs):
            return Response(status_code=CLIENT_GONE)
        answers = [self._answer(job, body.return_draft_depths) for job in jobs]
        return JSONResponse(answers if is_batch else answers[0])

    async def completions(self, request: Request) -> Response:
        body = parse(CompletionRequest, await request.body())
        jobs = self._engine.submit([body.prompt], body.sampling_params, request_ids(None, 1))
        if not await self._finished_before_disconnect(request, jobs):
            return Response(status_code=CLIENT_GONE)
        answer = self._answer(jobs[0])
        meta = answer["meta_info"]
        choice = {"index": 0, "text": answer["text"], "finish_reason": meta["finish_reason"]["type"]}
        if body.return_token_ids:
            choice["token_ids"] = answer["output_ids"]
        total = meta["prompt_tokens"] + meta["completion_tokens"]
        usage = {"prompt_tokens": meta["prompt_tokens"], "completion_tokens": meta["completion_tokens"], "total_tokens": total}
        model = body.model or self._engine.model.path
        completion = {"id": meta["id"], "object": "text_completion", "model": model}
        return JSONResponse(completion | {"choices": [choice], "usage": usage})

    async def abort_request(self, request: Request) -> Response:
        body = parse(AbortRequest, await request.body())
        if body.abort_all or body.rid is not None:
            self._engine.abort(self._engine.unfinished(None if body.abort_all else body.rid), "Aborted by request")
        return Response()

    async def flush_cache(self, _request: Request) -> Response:
        """There is no cache between requests: this only tells whether the engine is idle, as SGLang does."""
        if self._engine.unfinished():
            return PlainTextResponse("Requests are running or waiting; nothing was flushed.", 400)
        return PlainTextResponse("Cache flushed.")

    async def flush_capture(self, _request: Request) -> Response:
        """Write the states of all answers that have ended; how things stand then."""
        if self._engine.capture is None:
            raise BadRequestError("this engine was started without --capture")
        return JSONResponse(await asyncio.to_thread(self._engine.capture.flush))

    def _prompts(self, body: GenerateRequest) -> tuple[list[tuple[int, ...]], bool]:
        """Token ids of each prompt, and whether a list of prompts was sent."""
        if (body.input_ids is None) == (body.text is None):
            raise BadRequestError("either input_ids or text is needed")
        if body.text is not None:
            texts = (body.text,) if isinstance(body.text, str) else body.text
            encode = self._engine.model.tokenizer.encode
            return [tuple(encode(text)) for text in texts], not isinstance(body.text, str)
        ids: tuple[Any, ...] = body.input_ids or ()
        is_batch = bool(ids) and isinstance(ids[0], tuple)
        return list(ids) if is_batch else [ids], is_batch

    async def _finished_before_disconnect(self, request: Request, jobs: Sequence[Job]) -> bool:
        """Wait for all answers; a client that goes away frees its slots."""
        finished = asyncio.ensure_future(self._engine.finished(jobs))
        gone = asyncio.ensure_future(_disconnected(request))
        await asyncio.wait((finished, gone), return_when=asyncio.FIRST_COMPLETED)
        for waiting in (finished, gone):
            waiting.cancel()
        if all(job.finish_reason is not None for job in jobs):
            return True
        self._engine.abort(jobs, "The client disconnected")
        return False

    async def _events(self, job: Job, depths: bool) -> AsyncIterator[str]:
        try:
            ended = False
            while not ended:
                ended = await self._engine.news(job)
                yield f"data: {json.dumps(self._answer(job, depths))}\n\n"
            yield "data: [DONE]\n\n"
        finally:
            if job.finish_reason is None:
                self._engine.abort([job], "The client disconnected")

    def _answer(self, job: Job, depths: bool = False) -> dict[str, Any]:
        """SGLang's answer, cumulative while it is being made; with `depths` also how far ahead each token was drafted."""
        text = self._engine.model.tokenizer.decode(job.text_ids, skip_special_tokens=True)
        return {"text": text, "output_ids": job.output_ids[:], "meta_info": job.meta_info(depths=depths)}


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _bad_request(_request: Request, error: Exception) -> Response:
    return JSONResponse({"error": {"message": str(error)}}, 400)


async def _busy(_request: Request, error: Exception) -> Response:
    body = {"object": "error", "message": str(error), "type": "ServiceUnavailableError", "param": None, "code": 503}
    return JSONResponse(body, 503)
