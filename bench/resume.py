"""How soon a resumed run sends its first request, with 100,000 answers on disk, and what memory that takes.

    python bench/resume.py [--records 100000] [--repeats 3] [--json]

A real stage process over a store that is filled first; an HTTP server notes when the first request arrives. Against it: the
same process with an empty store, and a plain loop that reads every record to learn which prompts are done.

Exit code 1 when the first request takes more than 2 s from the start of the process, or more than 300 MB.
"""

import argparse
import json
import multiprocessing
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from pipeline.config import SamplingConfig
from pipeline.responses.reading import iter_records
from pipeline.responses.record import Response, Scope, sampling_name
from pipeline.responses.store import ResponseStore
from tests.support.generation import GenerateRun, generate_run, made_up

GOAL_S, GOAL_MB = 2.0, 300.0
MORE = 1000
"""Prompts without an answer."""
TOKENS = 200
"""Completion tokens of each answer."""


@dataclass(frozen=True, kw_only=True)
class First:
    """The moment of the first request."""

    seconds: float
    """Since the start of the process."""
    peak_mb: float
    """Of resident memory, until then."""


class Engine(BaseHTTPRequestHandler):
    """Tells its limits, notes the first prompt, and never answers it."""

    arrived: Event
    released: Event

    def do_GET(self) -> None:
        body = json.dumps({"model_path": "none", "vocab_size": 400, "context_length": 4096}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        self.arrived.set()
        self.released.wait(60)

    def log_message(self, *_: object) -> None:
        """Nothing."""


def fill(folder: Path, count: int, run: GenerateRun) -> None:
    """Answer the first `count` prompts of B1 by hand."""
    prompts = made_up("B1", count + MORE)
    run.add("B1", prompts)
    scope = Scope(dataset="B1", revision="r1", sampling=sampling_name(SamplingConfig(max_new_tokens=64)))
    rng = random.Random(0)
    with ResponseStore(folder, scope) as store:
        for prompt in prompts[:count]:
            store.append(response(prompt.key, prompt.id, prompt.messages, scope, rng))


def response(key: str, label: str, messages: tuple[Mapping[str, Any], ...], scope: Scope, rng: random.Random) -> Response:
    return Response(
        key=key,
        id=label,
        dataset=scope.dataset,
        revision=scope.revision,
        sampling=scope.sampling,
        seed=1,
        messages=messages,
        tools=(),
        prompt_ids=tuple(rng.choices(range(50_000), k=60)),
        output_ids=tuple(rng.choices(range(50_000), k=TOKENS)),
        text="a made-up answer of some words " * 25,
        finish_reason="stop",
        prompt_tokens=60,
        completion_tokens=TOKENS,
        engine="e1",
        latency_s=3.0,
        finished_at="2026-11-30T11:24:12.000+00:00",
    )


def first_request(run: GenerateRun) -> First:
    Engine.arrived.clear()
    started = time.perf_counter()
    stage = run.start()
    if not Engine.arrived.wait(60):
        raise SystemExit(f"no request came:\n{stage.log}")
    seconds = time.perf_counter() - started
    status = Path(f"/proc/{stage.process.pid}/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
    stage.kill()
    return First(seconds=seconds, peak_mb=int(peak.split()[1]) / 1024)


def read_all(folder: str, results: "multiprocessing.SimpleQueue[tuple[float, float]]") -> None:
    """The plain loop: keys of all records, by reading them."""
    started = time.perf_counter()
    done = {record.key for record in iter_records(Path(folder))}
    assert done
    results.put((time.perf_counter() - started, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def plain_loop(folder: Path) -> First:
    context = multiprocessing.get_context("spawn")
    results = context.SimpleQueue()
    process = context.Process(target=read_all, args=(str(folder), results))
    process.start()
    seconds, peak_mb = results.get()
    process.join()
    return First(seconds=seconds, peak_mb=peak_mb)


def median(found: list[First]) -> First:
    return First(
        seconds=statistics.median(one.seconds for one in found), peak_mb=statistics.median(one.peak_mb for one in found)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000, help="answers on disk (default: 100,000)")
    parser.add_argument("--repeats", type=int, default=3, help="the median counts (default: 3)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    args = parser.parse_args()
    Engine.arrived, Engine.released = Event(), Event()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Engine)
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    with (
        tempfile.TemporaryDirectory(prefix="resume-") as root,
        generate_run(Path(root) / "full", url) as full,
        generate_run(Path(root) / "empty", url) as empty,
    ):
        empty.add("B1", MORE)
        fill(full.responses / "B1", args.records, full)
        # In turns, so that a noisy machine disturbs both alike.
        pairs = [(first_request(full), first_request(empty)) for _ in range(args.repeats)]
        loop = plain_loop(full.responses / "B1")
    Engine.released.set()
    server.shutdown()
    resumed, fresh = (median(list(found)) for found in zip(*pairs, strict=True))
    ratio = loop.seconds / max(0.001, resumed.seconds - fresh.seconds)
    if args.json:
        rows = {name: vars(one) for name, one in (("resumed", resumed), ("fresh", fresh), ("plain_loop", loop))}
        print(json.dumps({"records": args.records, **rows, "plain_loop_over_index": ratio}))
    else:
        print(f"{'':28} {'first request':>14} {'peak memory':>12}")
        for name, one in ((f"{args.records:,} answers on disk", resumed), ("no answer on disk", fresh)):
            print(f"{name:28} {one.seconds:12.2f} s {one.peak_mb:9.0f} MB")
        print(f"{'reading the records, alone':28} {loop.seconds:12.2f} s {loop.peak_mb:9.0f} MB")
        print(f"reading the records over what the index costs: {ratio:.0f}×")
    return 0 if resumed.seconds <= GOAL_S and resumed.peak_mb <= GOAL_MB else 1


if __name__ == "__main__":
    sys.exit(main())
