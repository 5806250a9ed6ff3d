"""Serve one model over HTTP, in SGLang's API, until a signal.

Prints `engine listening on URL` once connections are accepted and `engine ready` once the model is loaded; until then
/health answers 503. `--ready-file` gets {"url", "pid"} at that second moment.
"""

import argparse
import os
import socket
import sys

import uvicorn

from pipeline.artifacts import write_json
from pipeline.errors import PipelineError
from pipeline.serving.embedded.app import create_app
from pipeline.serving.embedded.capture import Capture
from pipeline.serving.embedded.cli import draft_shape
from pipeline.serving.embedded.engine import Engine
from pipeline.serving.embedded.loading import LoadOptions, load

SWITCH_S = 0.001
"""The model thread hands the interpreter over this often, so that HTTP stays responsive while it computes."""


def serve(args: argparse.Namespace) -> int:
    """Serve until a signal. Exit code 1 when the model cannot be loaded or its thread dies."""
    sys.setswitchinterval(SWITCH_S)
    options = LoadOptions(
        model=args.model,
        dtype=args.dtype,
        device=args.device,
        threads=args.threads,
        slots=args.max_running,
        context_length=args.context_length,
        draft_model=args.draft_model,
        draft=args.draft,
        draft_shape=draft_shape(args),
    )
    try:
        capture = Capture(args.capture, args.model) if args.capture else None
    except PipelineError as error:
        sys.stderr.write(f"engine failed: {error}\n")
        return 1
    listener = socket.create_server((args.host, args.port), backlog=2048)
    url = f"http://{args.host}:{listener.getsockname()[1]}"
    deaths: list[str] = []

    def on_ready() -> None:
        _say(f"engine ready: {args.model}")
        if args.ready_file is not None:
            write_json(args.ready_file, {"url": url, "pid": os.getpid()})

    def on_death(reason: str) -> None:
        deaths.append(reason)
        server.should_exit = True

    engine = Engine(
        lambda: load(options),
        max_running=args.max_running,
        max_queued=args.max_queued,
        capture=capture,
        on_ready=on_ready,
        on_death=on_death,
    )
    config = uvicorn.Config(create_app(engine), ws="none", log_level="warning", timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    _say(f"engine listening on {url}")
    server.run(sockets=[listener])
    if deaths:
        sys.stderr.write(f"engine failed: {deaths[0]}\n")
    return 1 if deaths else 0


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
