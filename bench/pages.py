"""How long do the pages take with a team's years of rows behind them?

    python bench/pages.py [--scale 0.1] [--rounds 12] [--database sqlite|postgres | --home FOLDER]

Seeds a temporary database (10,000 runs, 5 M points, 1 M events, 300,000 answers, times --scale), asks for each page as
browsers do, in this process, and prints median and p95 in milliseconds with the number of queries: with SQLite and, where its
programs are installed, with PostgreSQL. --home measures a home that `manage.py seed` has filled. Exit code 1 when a page misses
its goal of 300 ms at the median or 800 ms at p95. On a busy machine look at `cpu`, the time that this process itself worked.
"""

# ruff: noqa: E402  (Django reads the environment when it is set up, so that comes before the imports that need it)

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import django

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from tests.support.postgres import PROGRAMS, postgres

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--scale", type=float, default=0.1, help="share of the rows (default 0.1)")
parser.add_argument("--rounds", type=int, default=12)
parser.add_argument("--database", choices=("sqlite", "postgres"), help="only this one")
parser.add_argument("--home", help="folder of a seeded system")
ARGS = parser.parse_args()
if not (ARGS.database or ARGS.home):
    # Django knows one database a process.
    names = ["sqlite", *(["postgres"] if PROGRAMS else [])]
    sys.exit(max(subprocess.run([sys.executable, *sys.argv, "--database", name], check=False).returncode for name in names))
HOME = ARGS.home or tempfile.mkdtemp(prefix="eagle3-bench-")
SERVERS = ExitStack()
if ARGS.database == "postgres":
    os.environ["DATABASE_URL"] = SERVERS.enter_context(postgres()).url
os.environ |= {"EAGLE3_HOME": HOME, "DJANGO_SETTINGS_MODULE": "eagle3web.settings"}
django.setup()

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.models import Count
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from eagle3web.enums import Stage
from eagle3web.models import Answer, Attempt, Checkpoint, Host, MetricPoint, Project, Run, User
from eagle3web.scale.seeding import seed
from eagle3web.scale.size import Size

MEDIAN_S, P95_S = 0.3, 0.8


def pages(project: Project) -> dict[str, str]:
    """Name → address, each with the rows that take longest."""
    base = f"/projects/{project.slug}"
    last = {stage: Attempt.objects.filter(run__stage=stage).order_by("-pk")[0] for stage in Stage.values if stage != "serve"}
    longest = MetricPoint.objects.filter(name="loss").values("attempt").annotate(n=Count("pk")).order_by("-n")[0]["attempt"]
    trained = Attempt.objects.get(pk=longest)
    newest = ",".join(str(pk) for pk in Run.objects.filter(stage=Stage.TRAIN).order_by("-pk").values_list("pk", flat=True)[:6])
    dataset = Answer.objects.values_list("dataset", flat=True)[0]
    runs = f"{base}/runs/"
    points = f"/runs/{trained.run_id}/attempts/{trained.number}/points/"
    return {
        "overview": f"{base}/",
        "budgets": f"{base}/budgets/",
        "runs": runs,
        "runs, page 100": f"{runs}?page=100",
        "runs by speedup": f"{runs}?sort=-speedup&cols=state,loss,accept_length,speedup,tokens",
        "runs by loss": f"{runs}?sort=loss",
        "runs by tokens": f"{runs}?sort=-tokens",
        "runs by author": f"{runs}?sort=author",
        "runs searched": f"{runs}?q=ablation",
        "runs by tag and state": f"{runs}?tag=nightly&state=failed",
        "runs as CSV": f"{base}/runs.csv?state=failed",
        "compare six": f"{base}/compare/?runs={newest}",
        "run, generation": f"/runs/{last[Stage.GENERATE].run_id}/",
        "run, extraction": f"/runs/{last[Stage.EXTRACT].run_id}/",
        "run, training": f"/runs/{last[Stage.TRAIN].run_id}/",
        "run, longest chart": f"/runs/{trained.run_id}/",
        "points, whole": f"{points}?lines=loss",
        "points, a part": f"{points}?lines=loss&from=4000&to=5000",
        "run, benchmark": f"/runs/{last[Stage.BENCHMARK].run_id}/",
        "new run": f"{runs}new/",
        "new training": f"{runs}new/train/",
        "checkpoints": f"{base}/checkpoints/",
        "checkpoint": f"/checkpoints/{Checkpoint.objects.order_by('-pk')[0].pk}/",
        "benchmarks": f"{base}/benchmarks/",
        "benchmark": f"/benchmarks/{last[Stage.BENCHMARK].pk}/",
        "answers": f"{base}/answers/",
        "answers of a dataset": f"{base}/answers/?dataset={dataset}",
        "answers, longest first": f"{base}/answers/?dataset={dataset}&sort=longest&finish=stop",
        "answers searched": f"{base}/answers/?dataset={dataset}&q=nowhere",
        "answers excluded": f"{base}/answers/?dataset={dataset}&mark=excluded",
        "summary of answers": f"{base}/answers/summary/?dataset={dataset}",
        "review of answers": f"{base}/answers/review/",
        "plan": f"{base}/budgets/plan/",
        "datasets": "/datasets/",
        "engines": "/engines/",
        "host": f"/hosts/{Host.objects.order_by('name')[0].name}/",
        "audit": "/audit/",
        "API: runs": "/api/runs",
        "API: a run": f"/api/runs/{trained.run_id}",
        "API: points": f"/api/attempts/{trained.pk}/points?name=loss",
    }


def measure(client: Client, address: str, rounds: int) -> tuple[int, int, float, list[float]]:
    """Status, queries, seconds of work a round, and seconds of each round after a first one that fills caches."""
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(address)
        b"".join(answer)
    queries, seconds, worked = len(asked), [], time.process_time()
    for _ in range(rounds):
        begin = time.perf_counter()
        b"".join(client.get(address))
        seconds.append(time.perf_counter() - begin)
    return answer.status_code, queries, (time.process_time() - worked) / rounds, sorted(seconds)


def report(client: Client, addresses: dict[str, str], rounds: int) -> bool:
    good = True
    print(f"{'page':24} {'median':>8} {'p95':>8} {'cpu':>8} {'queries':>8}")
    for name, address in addresses.items():
        status, queries, cpu, seconds = measure(client, address, rounds)
        median, p95 = statistics.median(seconds), seconds[min(len(seconds) - 1, round(0.95 * len(seconds)))]
        missed = median > MEDIAN_S or p95 > P95_S or status != 200
        good = good and not missed
        times = " ".join(f"{1000 * value:5.0f} ms" for value in (median, p95, cpu))
        print(f"{name:24} {times} {queries:8} {f'MISSED ({status})' if missed else ''}")
    return good


def main() -> int:
    settings.ALLOWED_HOSTS = ["testserver"]
    try:
        call_command("collectstatic", verbosity=0, interactive=False)
        project = Project.objects.get(slug="scale") if ARGS.home else seeded(Size().scaled(ARGS.scale))
        client = Client()
        client.force_login(User.objects.get_or_create(username="bench", defaults={"is_superuser": True})[0])
        good = report(client, pages(project), ARGS.rounds)
    finally:
        connection.close()
        SERVERS.close()
        if not ARGS.home:
            shutil.rmtree(HOME, ignore_errors=True)
    return 0 if good else 1


def seeded(size: Size) -> Project:
    call_command("migrate", verbosity=0)
    begin = time.monotonic()
    project = seed("scale", size, now=timezone.now(), report=lambda kind, n: None)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    print(f"{size.rows:,} rows in {connection.vendor}, seeded in {time.monotonic() - begin:.0f} s")
    return project


if __name__ == "__main__":
    sys.exit(main())
