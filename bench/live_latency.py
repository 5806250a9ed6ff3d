"""From a row that changes to a hundred screens: how old is a number when a viewer's page has it?

    python bench/live_latency.py [--viewers 100] [--seconds 20]

Real parts: Valkey, one uvicorn, one WebSocket a viewer, all on this machine. A writer does what the ingest of a run does about
twice a second (rows, log lines, a chart point, a poke); each viewer notes when the number reaches it. A change that a newer one
overtook counts until the newer one is there. Besides, a viewer is cut for a while: it must have every log line and point.
Before that the run only lives, and what its page is sent meanwhile is the traffic at rest.

Exit code 1 when a line or a point is missing.
"""

# ruff: noqa: E402  (Django reads the environment when it is set up, so that comes before the imports that need it)

import argparse
import asyncio
import json
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django
import websockets

HOME = tempfile.mkdtemp(prefix="eagle3-bench-")
os.environ |= {"EAGLE3_HOME": HOME, "DJANGO_SETTINGS_MODULE": "eagle3web.settings"}
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from eagle3web.models import Attempt, DatasetProgress, LogChunk, MetricPoint, Project, Run, User
from eagle3web.pokes import poke
from eagle3web.system.processes import Processes, free_port

GOAL_S = 0.25
REST_S, REST_GOAL = 10.0, 10_000
"""Seconds of a run that does nothing but live, and the most bytes a second that a viewer is sent then."""
DONE = re.compile(r'data-l="Answers"><span>([\d ]+) ')


@dataclass
class Viewer:
    """What one page has received."""

    seen: dict[int, float] = field(default_factory=dict)
    """Number → when it came."""
    lines: list[int] = field(default_factory=list)
    points: list[float] = field(default_factory=list)
    cursor: dict[str, Any] = field(default_factory=dict)
    bytes: int = 0

    def take(self, text: str) -> None:
        now = time.monotonic()
        self.bytes += len(text)
        message = json.loads(text)
        if "topic" not in message:
            return
        streams = dict(self.cursor.get("streams", {}))
        for name, tail in message["streams"].items():
            if name == "log":
                self.lines += [number for number, _ in tail["entries"]]
            else:
                self.points += [value for _, (_series, _t, value) in tail["entries"]]
            streams[name] = tail["entries"][-1][0]
        self.cursor = {"epoch": message["epoch"], "n": message["n"], "streams": streams}
        if found := DONE.search(message["fragments"].get("run-datasets", "")):
            self.seen.setdefault(int(found[1].replace(" ", "")), now)


async def look(viewer: Viewer, url: str, topic: str, cookie: str, stop: asyncio.Event) -> None:
    """Hold one page open until `stop`."""

    headers = {"Cookie": cookie, "Origin": url}
    async with websockets.connect(url.replace("http", "ws") + "/ws/live/", additional_headers=headers, max_size=None) as socket:
        await socket.send(json.dumps({"subscribe": {topic: viewer.cursor}}))
        while not stop.is_set():
            try:
                async with asyncio.timeout(0.5):
                    viewer.take(str(await socket.recv()))
            except TimeoutError:
                continue


def write(attempt_id: int, seconds: float, written: dict[int, float]) -> None:
    """Change rows about twice a second, as an ingest does; `written` gets number → when it was committed."""
    attempt = Attempt.objects.get(pk=attempt_id)
    offset, end, number = 0, time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        now, line = timezone.now(), f"answer {number}\n".encode()
        with transaction.atomic():
            DatasetProgress.objects.filter(attempt=attempt).update(done=number, tokens=1000 * number)
            MetricPoint.objects.create(attempt=attempt, name="tokens", series="B1", t=now, value=number)
            LogChunk.objects.create(attempt=attempt, offset=offset, first_line=number, data=line)
            Attempt.objects.filter(pk=attempt.pk).update(heartbeat_at=now, tick_at=now, progress_at=now)
        written[number] = time.monotonic()
        poke(f"run.{attempt.run_id}", f"project.{attempt.run.project_id}")
        offset += len(line)
        time.sleep(random.uniform(0.3, 0.7))


def live(attempt_id: int, seconds: float) -> None:
    """What a supervisor writes each second while its stage waits for an engine."""
    attempt, end = Attempt.objects.get(pk=attempt_id), time.monotonic() + seconds
    while time.monotonic() < end:
        now = timezone.now()
        Attempt.objects.filter(pk=attempt_id).update(heartbeat_at=now, tick_at=now, progress_at=now)
        poke(f"run.{attempt.run_id}", f"project.{attempt.run.project_id}")
        time.sleep(1)


def latencies(viewer: Viewer, written: dict[int, float]) -> list[float]:
    """For each change, how long it took until this viewer had it or a newer one."""
    came = sorted(viewer.seen.items())
    return [min(at for number, at in came if number >= n) - then for n, then in written.items() if came and n <= came[-1][0]]


async def measure(url: str, topic: str, cookie: str, attempt_id: int, args: argparse.Namespace) -> bool:
    viewers = [Viewer() for _ in range(args.viewers)]
    cut = Viewer()
    written: dict[int, float] = {}
    stop, stop_cut = asyncio.Event(), asyncio.Event()
    pages = [asyncio.create_task(look(viewer, url, topic, cookie, stop)) for viewer in viewers]
    first = asyncio.create_task(look(cut, url, topic, cookie, stop_cut))
    await asyncio.sleep(3)
    before = sum(viewer.bytes for viewer in viewers)
    await asyncio.to_thread(live, attempt_id, REST_S)
    rest = (sum(viewer.bytes for viewer in viewers) - before) / args.viewers / REST_S
    print(f"at rest {rest / 1000:.2f} kB a second and viewer, uncompressed: {rest / REST_GOAL:.2f} of the goal")
    writer = threading.Thread(target=write, args=(attempt_id, args.seconds, written), daemon=True)
    writer.start()
    await asyncio.sleep(args.seconds / 4)
    stop_cut.set()
    await first
    await asyncio.sleep(args.seconds / 2)
    stop_cut.clear()
    pages.append(asyncio.create_task(look(cut, url, topic, cookie, stop)))
    while writer.is_alive():
        await asyncio.sleep(0.2)
    await asyncio.sleep(3)
    stop.set()
    await asyncio.gather(*pages)
    return report(viewers, cut, written, args)


def report(viewers: list[Viewer], cut: Viewer, written: dict[int, float], args: argparse.Namespace) -> bool:
    found = sorted(value for viewer in viewers for value in latencies(viewer, written))
    whole = set(range(1, len(written) + 1))
    lost = sum(set(viewer.lines) != whole or {int(p) for p in viewer.points} != whole for viewer in [*viewers, cut])
    doubled = sum(len(viewer.lines) != len(set(viewer.lines)) for viewer in [*viewers, cut])
    cuts = statistics.quantiles(found, n=100)
    print(f"{len(written)} changes, {args.viewers} viewers, {len(found)} arrivals")
    print(f"change to page: p50 {cuts[49] * 1000:.0f} ms, p95 {cuts[94] * 1000:.0f} ms, p99 {cuts[98] * 1000:.0f} ms")
    print(f"p95 is {cuts[94] / GOAL_S:.2f} of the goal of {GOAL_S * 1000:.0f} ms")
    print(f"{sum(viewer.bytes for viewer in viewers) / args.viewers / len(written) / 1000:.1f} kB for each change and viewer")
    print(f"viewers with a gap: {lost}, with a doubled line: {doubled} (one was cut for {args.seconds / 2:.0f} s)")
    return not lost and not doubled


def seed() -> tuple[int, int, str]:
    """A run at work and somebody who may look at it; `(run, attempt, cookie)`."""
    user = User.objects.create_superuser("bench")
    project = Project.objects.create(slug="bench", name="bench", target_model="m", tokenizer="t")
    run = Run.objects.create(project=project, stage="generate", config={}, config_hash="0" * 8, status="running", author=user)
    now = timezone.now()
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        status="running",
        host="h",
        folder="f",
        started_at=now,
        heartbeat_at=now,
        tick_at=now,
        progress_at=now,
    )
    DatasetProgress.objects.create(attempt=attempt, dataset="B1", state="running", total=10_000, budget=10_000_000)
    client = Client()
    client.force_login(user)
    name = settings.SESSION_COOKIE_NAME
    return run.pk, attempt.pk, f"{name}={client.cookies[name].value}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--viewers", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=20)
    args = parser.parse_args()
    try:
        call_command("migrate", verbosity=0)
        call_command("collectstatic", verbosity=0, interactive=False)
        run_id, attempt_id, cookie = seed()
        with Processes(["valkey", "web"], port=free_port(), log=Path(HOME) / "system.log") as system:
            system.wait(needs=lambda health: health.get("status") in ("ok", "degraded"), what="the site", timeout_s=60)
            good = asyncio.run(measure(system.url, f"run/{run_id}/1", cookie, attempt_id, args))
    finally:
        shutil.rmtree(HOME, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
