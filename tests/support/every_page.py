"""A site with something on each of its pages, and the addresses of them all: what looks at every page starts from here."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver, resolve
from django.utils import timezone

from eagle3web.domain.datasets import import_file
from eagle3web.enums import Prunable
from eagle3web.models import Attempt, Checkpoint, Project, User
from tests.support import factories as make
from tests.support import told

NOT_PAGES = re.compile(
    r"api/|admin/|healthz|favicon|sign-in/|sign-out/|search/|needs/|.*/(prompts|samples|points|summary|log|preview)/$|.*\.(csv|json|tar|txt)$"
    r"|.*/(flag|exclude|keep|dismiss|save|stop|tag|star|tags|views|comments|revoke|test|time-zone|password|tokens|remove)/$"
    r"|comments/|(projects|answers|budgets|runs|checkpoints|benchmarks)/$|$"
)
"""Routes that answer with fragments, files or words for programs, that lead elsewhere, or that only take a POST."""
GPUS = [
    {"index": n, "name": "NVIDIA H200", "utilisation_percent": 90 - n, "memory_used": 80 << 30, "memory_total": 141 << 30,
     "power_w": 512.0, "temperature_c": 61}
    for n in range(2)
]  # fmt: skip


def make_pages(user: User, folder: Path) -> dict[str, str]:
    """Make the rows; name → address, for a person who may do everything."""
    project = make.project(slug="kimi", name="Kimi-K2.5 drafter")
    empty = make.project(slug="empty", name="Nothing yet")
    run = _generation(project, user, folder)
    stages = ("train", "benchmark", "extract", "serve")
    trained, measured, extracted, serving = (_later_stage(project, stage) for stage in stages)
    told.tell(trained, told.training(trained, first=0, last=400))
    told.tell(measured, [(1, told.measured(5)), *((2, row) for row in told.results()), (3, told.drafted())])
    told.tell(extracted, [(1, told.extraction())])
    told.tell(serving, [(1, told.server_started(drafter="r2 step 400")), (2, told.server_ready()), (3, told.server_measured())])
    queued = make.run(project, title="waits")
    failed = make.attempt(make.run(project), status="failed", reason="CUDA out of memory", signal=9)
    _machines(run)
    checkpoint = Checkpoint.objects.filter(removed_at=None).latest("pk")
    answer = make.stored_answer(project, dataset="B1_glaive")
    make.answer_file(project, dataset="B1_glaive")
    make.flag(answer, reason="empty")
    channel = make.channel(user)
    make.comment(checkpoint, "Better than **r2**, see [the list](/runs/).", author=user)
    make.comment(run.run, "Slow today.", author=user)
    make.audit("run.stop", f"run {run.run_id}", user=user)
    make.policy(Prunable.LOGS)
    own = make.policy(Prunable.LOGS, empty, enabled=False)
    make.pruned(Prunable.LOGS, failed.run, attempt=failed)
    return {
        "overview": "/projects/kimi/",
        "overview of nothing": f"/projects/{empty.slug}/",
        "budgets": "/projects/kimi/budgets/",
        "planner": "/projects/kimi/budgets/plan/",
        "planner of nothing": f"/projects/{empty.slug}/budgets/plan/",
        "budgets of nothing": f"/projects/{empty.slug}/budgets/",
        "runs": "/projects/kimi/runs/",
        "runs of nothing": f"/projects/{empty.slug}/runs/",
        "compared runs": f"/projects/kimi/compare/?runs={run.run_id},{failed.run_id}",
        "compared nothing": "/projects/kimi/compare/",
        "new run": "/projects/kimi/runs/new/",
        "new pipeline": "/projects/kimi/runs/new/pipeline/",
        "new extraction": "/projects/kimi/runs/new/extract/",
        "new training": "/projects/kimi/runs/new/train/",
        "new benchmark": "/projects/kimi/runs/new/benchmark/",
        "new server": "/projects/kimi/runs/new/serve/",
        "generation": f"/runs/{run.run_id}/",
        "first attempt": f"/runs/{run.run_id}/attempts/1/",
        "extraction": f"/runs/{extracted.run_id}/",
        "training": f"/runs/{trained.run_id}/",
        "measuring": f"/runs/{measured.run_id}/",
        "server": f"/runs/{serving.run_id}/",
        "drafter": f"/runs/{serving.run_id}/drafter/",
        "queued run": f"/runs/{queued.pk}/",
        "failed run": f"/runs/{failed.run_id}/",
        "stop": f"/runs/{run.run_id}/stop/",
        "pause": f"/runs/{run.run_id}/pause/",
        "unpause": f"/runs/{run.run_id}/unpause/",
        "resume": f"/runs/{failed.run_id}/resume/",
        "settle": f"/runs/{failed.run_id}/settle/",
        "concurrency": f"/runs/{run.run_id}/concurrency/",
        "notes": f"/runs/{run.run_id}/notes/",
        "clone": f"/runs/{run.run_id}/clone/",
        "checkpoints": "/projects/kimi/checkpoints/",
        "checkpoints of nothing": f"/projects/{empty.slug}/checkpoints/",
        "checkpoint": f"/checkpoints/{checkpoint.pk}/",
        "promote": f"/checkpoints/{checkpoint.pk}/promote/",
        "propose": f"/checkpoints/{checkpoint.pk}/propose/",
        "approve": f"/checkpoints/{checkpoint.pk}/approve/",
        "reject": f"/checkpoints/{checkpoint.pk}/reject/",
        "benchmarks": "/projects/kimi/benchmarks/",
        "benchmarks of nothing": f"/projects/{empty.slug}/benchmarks/",
        "benchmark": f"/benchmarks/{measured.pk}/",
        "answers": "/projects/kimi/answers/",
        "answers of nothing": f"/projects/{empty.slug}/answers/",
        "answer": f"/projects/kimi/answers/{answer.pk}/",
        "flagged answers": "/projects/kimi/answers/review/",
        "datasets": "/datasets/",
        "dataset": "/datasets/B1_glaive/",
        "import": "/datasets/import/",
        "edit dataset": "/datasets/B1_glaive/edit/",
        "engines": "/engines/",
        "register engine": "/engines/register/",
        "host": "/hosts/gpu-07/",
        "drain a host": "/hosts/gpu-07/drain/",
        "take a host back": "/hosts/gpu-07/undrain/",
        "me": "/me/",
        "new channel": "/me/channels/new/",
        "channel": f"/me/channels/{channel.pk}/",
        "own password": "/me/password/",
        "audit": "/audit/",
        "retention": "/retention/",
        "retention rule": "/retention/rules/logs/?project=kimi",
        "forget a retention rule": f"/retention/own/{own.pk}/drop/",
        "remove what is old": "/retention/prune/",
        "nothing there": "/nowhere/",
    }


def _generation(project: Project, user: User, folder: Path) -> Attempt:
    """A run at work on six datasets, after a failed attempt."""
    source = folder / "B1_glaive.jsonl"
    rows = [{"id": f"p{n}", "prompt": f"Question {n}"} for n in range(60)]
    source.write_text("\n".join(map(json.dumps, rows)) + "\nnot json\n")
    revision = import_file(source, slug="B1_glaive", user=user)
    run = make.run(project, author=user, title="nightly answers", tags=["nightly"])
    make.attempt(run, status="failed", reason="no engine answers", signal=9)
    attempt = make.attempt(run, config={"engines": [], "note": "changed"})
    names = ("B1_glaive", "B2_opencode", "B3_openmath", "B4_ultrachat", "B5_xlam_tools", "B6_longwriter")
    for place, name in enumerate(names):
        dataset = revision.dataset if place == 0 else make.revision(make.dataset(slug=name)).dataset
        make.budget(project, dataset, position=place)
        state = ("skipped", "finished", "running", "pending", "pending", "pending")[place]
        make.progress(attempt, dataset=name, position=place, state=state, reason="budget_met" if place < 2 else "")
        make.event(attempt, "lengths_counted", dataset=name, width=64, counts=[place, 3, 2])
        for value in range(5):
            make.point(attempt, "tokens", value * 1e6, series=name)
    make.event(attempt, "warning", text="slow", dataset="B3_openmath")
    make.event(attempt, "sample_logged", dataset="B3_openmath", prompt="1 + 1", answer="<think>sum</think>2")
    make.log(attempt, "first line\nWARNING slow\nERROR broken\nunfinished")
    return attempt


def _later_stage(project: Project, stage: str) -> Attempt:
    run = make.run(project, stage=stage)
    return make.attempt(run, folder=str(Path(settings.EAGLE3_HOME) / "runs" / str(run.pk) / "attempts" / "1"))


def _machines(attempt: Attempt) -> None:
    now = timezone.now()
    healthy = make.engine(name="kimi-a", url="http://gpu-07.rack-12.example:30000", accept_length=2.4)
    make.engine(name="kimi-b", state="down", reason="connection refused", info={})
    host = make.host(name="gpu-07", sample=make.host().sample | {"gpus": GPUS})
    attempt.leases.create(host="gpu-07", device="cuda:0")
    for age in range(0, 300, 5):
        make.host_sample(host, at=now - timedelta(seconds=age), gpus=GPUS)
        make.engine_sample(healthy, at=now - timedelta(seconds=age), accept_length=2.4)


def missing_routes(pages: dict[str, str]) -> set[str]:
    """Routes that people can look at, and that no page of the list is of."""
    looked_at = {resolve(path.partition("?")[0]).route for path in pages.values() if path != "/nowhere/"}
    return {route for route in _routes(get_resolver()) if route not in looked_at and not NOT_PAGES.match(route)}


def _routes(resolver: URLResolver, prefix: str = "") -> Iterator[str]:
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLPattern):
            yield route
        else:
            yield from _routes(pattern, route)
