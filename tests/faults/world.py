"""Several projects in one real system, each with a chain of runs from prompts to a measured drafter."""

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from eagle3web.domain import budgets
from eagle3web.enums import RunStatus
from eagle3web.models import Attempt, Dataset, Engine, Project, Run, TokenBudget
from tests.faults.checker.check import Checker
from tests.faults.clock import Clock
from tests.support import factories
from tests.support.project_target import save_target
from tests.support.servers import wait_until
from tests.support.stub_engine import Behaviour
from tests.support.system import System, database_url
from tests.support.world import World

MORE_PROJECTS = ("llama", "qwen")
"""Beside the first one."""
SETS = ("B1", "B2")
LIVE_S = 15.0
MAY_REFUSE = (409, 503)
"""Somebody was first; the database or the broker is away."""
PROMPTS = 2000
TOKENS = 1500
"""Budget of each dataset; each further chain adds as many."""
BEHAVIOUR = Behaviour(latency_s=0.4, mean_tokens=20, sigma=0.5, vocab_size=300)
GENERATE: dict[str, Any] = {"engines": ["stub"], "concurrency": 3, "order": "interleaved"}
EXTRACT: dict[str, Any] = {"shard_bytes": 40_000, "batch_tokens": 512}
TRAIN: dict[str, Any] = {
    "max_minutes": 0.1,
    "draft_vocab_size": 64,
    "tokens_per_batch": 512,
    "objective": {"steps": 2},
    "precision": "float32",
    "saving": {"every_steps": 10},
}
BENCHMARK: dict[str, Any] = {
    "prompts_per_dataset": 1,
    "repetitions": 1,
    "warmup_prompts": 0,
    "sampling": {"max_new_tokens": 8},
}
START_HOOK = Path(__file__).parent / "start_hook"
SYSTEM = ("valkey", "web", "worker", "beat")


class SiteError(Exception):
    """The site answered with an error that no fault explains, such as 500."""


class FaultWorld:
    """What the faults strike: the processes, the projects and their runs, and whoever starts and resumes them."""

    def __init__(self, system: System, root: Path, *, disks: Mapping[str, Path]) -> None:
        """`disks`: what can fill up, by name."""
        self.system = system
        self.disks = disks
        self.write_delay = root / "write-delay"
        self.write_delay.write_text("0")
        self.clock = Clock(root)
        system.env |= {"PYTHONPATH": str(START_HOOK), "EAGLE3_TEST_WRITE_DELAY": str(self.write_delay)}
        system.env |= self.clock.environment
        self.base = World(system, root, BEHAVIOUR)
        self.checker = Checker(system.home, database_url(), known=self.known)

    def begin(self) -> None:
        """Start everything; the chains are begun by `keep_busy`."""
        self.system.start(*SYSTEM)
        self.base.start_engine()
        first = self.base.project
        save_target(first)
        first.refresh_from_db()
        for name in SETS:
            self.base.add(name, prompts=PROMPTS, tokens=TOKENS)
        for slug in MORE_PROJECTS:
            same = {"tokenizer": first.tokenizer, "target_path": first.target_path, "sampling": first.sampling}
            project = factories.project(slug=slug, **same)
            for name in SETS:
                budgets.create_budget(project, Dataset.objects.get(slug=name), user=self.base.user, tokens=TOKENS)

    def known(self) -> set[int]:
        """Pids that somebody started by name."""
        engine = [self.base.engine.pid] if self.base.engine is not None else []
        return {process.pid for process in self.system.processes.values()} | set(engine)

    def call(self, method: str, path: str, body: Any = None) -> Any:  # noqa: ANN401  (JSON)
        """Ask the site, which may be away or refuse; None then. Raises SiteError for any other error."""
        try:
            return self.base.call(method, path, body)
        except urllib.error.HTTPError as error:
            if error.code not in MAY_REFUSE:
                raise SiteError(f"{method} {path} answered {error.code}: {error.read()[:500]!r}") from error
            return None
        except OSError:
            return None

    def keep_busy(self) -> None:
        """Resume what ended early, begin a new chain where one is done, and let something generate at any time."""
        self.resume_all()
        for project in Project.objects.order_by("id"):
            if not Run.objects.filter(project=project).exclude(status=RunStatus.FINISHED).exists():
                if Run.objects.filter(project=project).exists():
                    self.raise_budgets(project)
                self._begin_chain(project, measured=project.pk == self.base.project.pk)

        if not Run.objects.filter(stage="generate").exclude(status=RunStatus.FINISHED).exists():
            self.raise_budgets(self.base.project)
            self.call("POST", "/runs", GENERATE | {"project": self.base.project.slug})

    def _begin_chain(self, project: Project, *, measured: bool) -> None:
        """From prompts to a drafter; `measured` by a benchmark, which takes more time than the rest together."""
        if measured:
            body = GENERATE | {"preset": "cpu", "extract": EXTRACT, "train": TRAIN, "benchmark": BENCHMARK}
            self.call("POST", "/pipelines", body | {"project": project.slug})
            return
        before = self.call("POST", "/runs", GENERATE | {"project": project.slug})
        for stage, settings in (("extract", EXTRACT), ("train", TRAIN)):
            if before is not None:
                body = {"stage": stage, "project": project.slug, "sources": [before["id"]], "config": settings}
                body |= {"devices": ["cpu"]}
                before = self.call("POST", "/runs", body | ({"preset": "cpu"} if stage == "train" else {}))

    def resume_all(self) -> int:
        """How many runs were resumed."""
        ended = [run.pk for run in Run.objects.filter(status__in=RunStatus.RESUMABLE).order_by("id")]
        return sum(self.call("POST", f"/runs/{pk}/resume") is not None for pk in ended)

    def raise_budgets(self, project: Project) -> None:
        for row in TokenBudget.objects.filter(project=project):
            budgets.change_budget(row.pk, user=self.base.user, expected_version=row.version, tokens=(row.tokens or 0) + TOKENS)

    def live(self, *stages: str) -> list[Attempt]:
        """Attempts whose stage has a process, oldest first."""
        found = Attempt.objects.filter(status="running").exclude(pid=None).order_by("id")
        return list(found.filter(run__stage__in=stages) if stages else found)

    def behave(self, **changes: Any) -> None:
        """Change what the stub engine does. Raises OSError while it is away."""
        body = json.dumps(changes).encode()
        url = Engine.objects.get().url
        request = urllib.request.Request(f"{url}/stub", data=body, method="POST")  # noqa: S310  (our own loopback address)
        urllib.request.urlopen(request, timeout=5).close()  # noqa: S310

    def wait_live(self, *stages: str) -> list[Attempt]:
        """As `live`, once there is one; empty when none came in time."""
        came_in_time(lambda: bool(self.live(*stages)), "a stage runs", LIVE_S)
        return self.live(*stages)

    def close(self) -> None:
        self.base.close()


def came_in_time(condition: Callable[[], bool], what: str, timeout_s: float) -> bool:
    """Wait for something that may or may not come."""
    try:
        wait_until(condition, what, timeout_s)
    except AssertionError:
        return False
    return True
