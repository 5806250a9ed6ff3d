"""What the client and the pool cost, against the best that an engine allows. Both ratios come from one run on one machine.

    python bench/client_overhead.py [--model FOLDER] [--seconds 10]

* stub: 512 requests in flight at a stub engine that answers after 1 s. Ideal: each worker has an answer every second.
* embedded: 8 in flight at the embedded engine; the pool and a bare asyncio loop (sockets, no client library) in turns.

A busy machine measures its queue for the processor: run it alone.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import uvloop

sys.path.insert(0, str(Path(__file__).parent.parent))

from pipeline.config import EngineRef, SamplingConfig
from pipeline.serving.client import connect
from pipeline.serving.pool import EnginePool
from pipeline.serving.sglang import sampling_params

ROOT = Path(__file__).resolve().parent.parent
STUB_GOAL, STUB_CONCURRENCY, STUB_LATENCY_S = 0.97, 512, 1.0
WARM_UP_CYCLES = 2
EMBEDDED_GOAL, EMBEDDED_CONCURRENCY = 0.95, 8
EMBEDDED_ROUNDS, EMBEDDED_REQUESTS = 7, 24
PROMPT = tuple(range(100, 164))
SAMPLING = SamplingConfig(max_new_tokens=32, ignore_eos=True)

Ask = Callable[[int], Awaitable[object]]


@contextmanager
def server(command: Sequence[str], *, ready: str) -> Iterator[str]:
    """Start a server and yield its URL once it has printed a line that starts with `ready`."""
    process = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        url = ""
        for line in process.stdout:
            url = url or line.rsplit(" ", 1)[1].strip()
            if line.startswith(ready):
                break
        yield url
    finally:
        process.terminate()
        process.communicate()


@contextmanager
def stub() -> Iterator[str]:
    command = ["-m", "tests.support.stub_engine", "--latency-s", str(STUB_LATENCY_S), "--sigma", "0"]
    with server(command, ready="stub engine listening") as url:
        yield url


@contextmanager
def embedded(model: Path) -> Iterator[str]:
    command = [
        "-m",
        "pipeline",
        "engine",
        "--model",
        str(model),
        "--port",
        "0",
        "--threads",
        "1",
        "--max-running",
        str(EMBEDDED_CONCURRENCY),
    ]
    with server(command, ready="engine ready") as url:
        yield url


def pool_of(url: str) -> EnginePool:
    client = connect(EngineRef(name="engine", url=url), timeout_s=600, vocab_size=32000)
    return EnginePool([client], on_change=lambda change: print(f"  {change.engine} {change.state}: {change.reason}"))


async def stub_ratio(url: str, seconds: float) -> float:
    """Ideal cycle over the mean cycle of all workers.

    Workers begin spread over one cycle, as answers of real lengths are: 512 in the same millisecond would measure a queue.
    """
    pool = pool_of(url)
    cycles: list[float] = []

    async def worker(n: int) -> None:
        await asyncio.sleep(STUB_LATENCY_S * n / STUB_CONCURRENCY)
        for _ in range(WARM_UP_CYCLES):
            await pool.generate((n + 3, *PROMPT), SAMPLING, rid=f"w{n}", seed=0)
        started = time.perf_counter()
        answers = 0
        while time.perf_counter() - started < seconds:
            await pool.generate((n + 3, *PROMPT), SAMPLING, rid=f"w{n}.{answers}", seed=0)
            answers += 1
        cycles.append((time.perf_counter() - started) / answers)

    await asyncio.gather(*(worker(n) for n in range(STUB_CONCURRENCY)))
    await pool.close()
    return STUB_LATENCY_S / statistics.fmean(cycles)


async def run_load(ask: Ask) -> float:
    """Answers a second of EMBEDDED_REQUESTS requests, EMBEDDED_CONCURRENCY at a time."""
    numbers = iter(range(EMBEDDED_REQUESTS))

    async def worker() -> None:
        for n in numbers:
            await ask(n)

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(EMBEDDED_CONCURRENCY)))
    return EMBEDDED_REQUESTS / (time.perf_counter() - started)


async def ask_bare(url: str, n: int) -> object:
    """One request over a socket of its own: as little as HTTP allows."""
    address = urlsplit(url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    body = json.dumps({"input_ids": [n + 3, *PROMPT], "sampling_params": sampling_params(SAMPLING, 0)}).encode()
    head = f"POST /generate HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
    raw = await reader.read()
    writer.close()
    return json.loads(raw.split(b"\r\n\r\n", 1)[1])


async def embedded_ratio(url: str) -> float:
    """Median over rounds of pool against bare loop, each round in the other order."""
    pool = pool_of(url)
    asks: dict[str, Ask] = {
        "bare": lambda n: ask_bare(url, n),
        "pool": lambda n: pool.generate((n + 3, *PROMPT), SAMPLING, rid=str(n), seed=0),
    }
    await run_load(asks["pool"])
    ratios = []
    for turn in range(EMBEDDED_ROUNDS):
        order = ("bare", "pool") if turn % 2 else ("pool", "bare")
        rates = {name: await run_load(asks[name]) for name in order}
        ratios.append(rates["pool"] / rates["bare"])
        tokens = {name: rate * SAMPLING.max_new_tokens for name, rate in rates.items()}
        print(f"  round {turn + 1}: pool {tokens['pool']:.0f} tok/s, bare {tokens['bare']:.0f} tok/s, ratio {ratios[-1]:.3f}")
    await pool.close()
    return statistics.median(ratios)


def report(what: str, ratio: float, goal: float) -> None:
    print(f"{what}: {ratio:.3f} (goal {goal}, {'met' if ratio >= goal else 'missed'})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, default=ROOT / "var/models/SmolLM2-135M-Instruct")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of the stub measurement")
    args = parser.parse_args()
    with stub() as url:
        ratio = uvloop.run(stub_ratio(url, args.seconds))
    report(f"stub, concurrency {STUB_CONCURRENCY}, of the ideal rate", ratio, STUB_GOAL)
    with embedded(args.model) as url:
        ratio = uvloop.run(embedded_ratio(url))
    report(f"embedded, concurrency {EMBEDDED_CONCURRENCY}, of a bare asyncio loop", ratio, EMBEDDED_GOAL)


if __name__ == "__main__":
    main()
