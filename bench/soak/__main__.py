"""The whole system at work for a while: does any process grow, and do the pages keep up?

    make soak MINUTES=30 SEED=1        python -m bench.soak --minutes 30 [--viewers 50] [--runs 4] [--json FILE]

Real parts: Valkey, web, worker, beat, a supervisor and a stage for each run, one WebSocket a viewer, and somebody who opens
pages all the time; only the model is a stub. Memory (resident) and file descriptors of every process are sampled every five
seconds; the lag is the time from a line of events.jsonl to the page that shows its number.

Exit code 1 when a process grows by more than 5 % after warm-up, when it leaks file descriptors, or when p99 of the lag is 1 s.
"""

# ruff: noqa: E402  (Django reads the environment when it is set up, so that comes before the imports that need it)

import argparse
import asyncio
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import django
import httpx

ROOT = Path(tempfile.mkdtemp(prefix="eagle3-soak-"))
HOME = ROOT / "home"
os.environ |= {"DJANGO_SETTINGS_MODULE": "eagle3web.settings", "EAGLE3_HOME": str(HOME), "EAGLE3_HOST": "soak"}
django.setup()

from django.conf import settings
from django.core.management import call_command
from django.test import Client

from bench.soak.samples import Samples, Usage
from bench.soak.viewers import Viewer, lags, told
from eagle3web.domain import budgets
from eagle3web.models import Attempt, Dataset, User
from tests.support import factories
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System
from tests.support.world import World, world

SAMPLE_S = 5.0
WARM_UP = 0.25
"""Share of the time in which everything may grow: caches fill, connections are made."""
LAG_S = 1.0
LATENCY_S, CONCURRENCY = 0.8, 4
PROMPTS_A_MINUTE = 60 * CONCURRENCY / LATENCY_S
"""That one run takes."""
PAGES = ("/", "/runs/", "/runs/1/", "/engines/", "/datasets/", "/checkpoints/", "/answers/", "/budgets/", "/healthz")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--viewers", type=int, default=50)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1, help="of which pages are opened, and when")
    parser.add_argument("--json", type=Path, help="write the numbers there, too")
    args = parser.parse_args()
    try:
        with ExitStack() as stack:
            return soak(args, stack)
    finally:
        shutil.rmtree(ROOT, ignore_errors=True)


def soak(args: argparse.Namespace, stack: ExitStack) -> int:
    HOME.mkdir(parents=True, exist_ok=True)
    call_command("migrate", verbosity=0)
    system = System(HOME, socket=HOME / "valkey.sock", static=ROOT / "static")
    stack.callback(system.close)
    system.start("valkey", "web", "worker", "beat")
    here = stack.enter_context(world(system, ROOT, Behaviour(latency_s=LATENCY_S, mean_tokens=40, vocab_size=300)))
    working = start_runs(here, args.runs, prompts=1000 + int(args.minutes * PROMPTS_A_MINUTE))
    viewers = [Viewer(f"run/{row.run_id}/{row.number}") for row in (working * args.viewers)[: args.viewers]]
    samples = Samples(HOME, {process.pid: name for name, process in system.processes.items()})
    failed = asyncio.run(watch(system.url, sign_in(), viewers, samples, args))
    written = {f"run/{row.run_id}/{row.number}": told(Path(row.folder) / "events.jsonl") for row in working}
    found = [lag for viewer in viewers for lag in lags(viewer, written[viewer.topic])]
    failed += [f"{viewer.topic} lost its connection {viewer.reconnects} times" for viewer in viewers if viewer.reconnects]
    return report(samples.usage(WARM_UP), found, failed, args.json)


def start_runs(here: World, count: int, *, prompts: int) -> list[Attempt]:
    """Generations that last longer than we look, each in a project of its own; their attempts, at work."""
    first = here.project
    here.add("B1", prompts=prompts, tokens=None)
    projects = [first]
    for _ in range(count - 1):
        projects.append(factories.project(tokenizer=first.tokenizer, sampling=first.sampling))
        budgets.create_budget(projects[-1], Dataset.objects.get(), user=here.user, tokens=None)
    for project in projects:
        here.call("POST", "/runs", {"project": project.slug, "engines": ["stub"], "concurrency": CONCURRENCY})
    running = Attempt.objects.filter(status="running").exclude(pid=None)
    wait_until(lambda: running.count() == count, f"{count} runs work", 120)
    return list(running.order_by("id"))


async def watch(url: str, cookie: str, viewers: list[Viewer], samples: Samples, args: argparse.Namespace) -> list[str]:
    """Keep all pages open and open others, while samples are taken; what went wrong with the others."""
    stop = asyncio.Event()
    tasks = [asyncio.create_task(viewer.look(url, cookie, stop)) for viewer in viewers]
    browsing = asyncio.create_task(browse(url, cookie, random.Random(args.seed), stop))
    end = time.monotonic() + args.minutes * 60
    while time.monotonic() < end:
        await asyncio.sleep(SAMPLE_S)
        await asyncio.to_thread(samples.take)
    stop.set()
    await asyncio.gather(*tasks)
    return await browsing


async def browse(url: str, cookie: str, draw: random.Random, stop: asyncio.Event) -> list[str]:
    """Open a page every second or so; those that did not answer as they should, in words."""
    failed = []
    async with httpx.AsyncClient(base_url=url, headers={"Cookie": cookie}, follow_redirects=True, timeout=30) as client:
        while not stop.is_set():
            page = draw.choice(PAGES)
            try:
                (await client.get(page)).raise_for_status()
            except httpx.HTTPError as error:
                failed.append(f"{page}: {error!r}")
            await asyncio.sleep(draw.uniform(0.5, 2))
    return failed


def sign_in() -> str:
    """A session's cookie."""
    client = Client()
    client.force_login(User.objects.get())
    name = settings.SESSION_COOKIE_NAME
    return f"{name}={client.cookies[name].value}"


def report(usage: list[Usage], found: list[float], failed: list[str], path: Path | None) -> int:
    print(f"{'process':16} {'MB':>8} {'MB end':>8} {'growth':>8} {'fds':>6} {'fds end':>8}")
    for row in usage:
        (before, after), (fds, more) = row.megabytes, row.fds
        print(f"{row.name:16} {before:8.1f} {after:8.1f} {row.growth:8.1%} {fds:6.0f} {more:8.0f}")
    cuts = statistics.quantiles(found, n=100)
    lag = {"p50": cuts[49], "p95": cuts[94], "p99": cuts[98], "arrivals": len(found)}
    print(f"event to page: p50 {cuts[49]:.2f} s, p95 {cuts[94]:.2f} s, p99 {cuts[98]:.2f} s over {len(found)} arrivals")
    faults = [words for row in usage for words in row.leaks]
    faults += [f"p99 of the lag is {cuts[98]:.2f} s"] if cuts[98] >= LAG_S else []
    faults += failed
    numbers = {"processes": [asdict(row) | {"growth": row.growth} for row in usage], "lag_s": lag, "faults": faults}
    print(json.dumps(numbers))
    if path is not None:
        path.write_text(json.dumps(numbers, indent=1) + "\n")
    print("\n".join(faults) or "nothing grows, and the pages keep up")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
