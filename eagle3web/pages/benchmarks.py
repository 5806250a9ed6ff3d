"""How much faster are we, where? The list of a project's benchmarks, and one of them with its charts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator

from eagle3web.charts import benchmarks as charts
from eagle3web.domain.clock import database_now
from eagle3web.live.records import Entry, Reading
from eagle3web.models import Attempt, BenchmarkRow, Project, Run
from eagle3web.pages import fragments
from eagle3web.pages.clocks import Clocks, clocks, next_change
from eagle3web.pages.rights import Rights
from eagle3web.pages.sorting import Column, heads
from eagle3web.pokes import project_topic, run_topic
from eagle3web.queries import benchmarks
from eagle3web.queries.benchmarks import ALL, Headline
from eagle3web.queries.run_list import last_attempts
from eagle3web.text import cut

PER_PAGE = 25
VERDICT_LIMIT = 600
COLUMNS = (
    Column(word="Benchmark", key="run"),
    Column(word="State"),
    Column(word="Drafter"),
    Column(
        word="Speedup",
        key="speedup",
        number=True,
        title="Against plain decoding of the same prompts by the same engine; lowest to highest repetition",
    ),
    Column(
        word="Accept length",
        key="accept",
        number=True,
        title="Tokens for each verification, bonus token included; decoded, pooled over requests",
    ),
    Column(word="Prompt lookup", key="lookup", number=True),
    Column(word="Plain, tok/s", key="plain", number=True),
    Column(word="At once", key="concurrency", number=True),
    Column(word="Host"),
    Column(word="Created", key="created", number=True),
)
LIST_FRAGMENTS = {"benchmarks-table": "benchmarks/_table.html"}
FRAGMENTS = {
    "bench-stats": "benchmarks/_stats.html",
    "bench-verdict": "benchmarks/_verdict.html",
    "c-datasets": "benchmarks/_by_dataset.html",
    "c-concurrency": "benchmarks/_by_concurrency.html",
    "c-positions": "benchmarks/_by_position.html",
    "bench-results": "benchmarks/_results.html",
}


@dataclass(frozen=True)
class Verdict:
    """A plain sentence about what was found."""

    text: str
    state: str
    """Colours it."""


def verdict(attempt: Attempt, rows: Sequence[BenchmarkRow]) -> Verdict | None:
    """The stage's own sentence. Red when the drafter is slower than plain decoding, amber when lookup does as well."""
    text = attempt.summary.get("verdict")
    if not isinstance(text, str) or not text.strip():
        return None
    lookup, drafter = benchmarks.best_row(rows, "lookup"), benchmarks.best_row(rows, "drafter")
    gain = drafter.speedup if drafter else None
    state = "finished"
    if gain is not None and gain <= 1:
        state = "failed"
    elif gain is not None and lookup and lookup.speedup and lookup.speedup >= gain:
        state = "silent"
    return Verdict(cut(text, VERDICT_LIMIT)[0], state)


@dataclass(frozen=True)
class ListedBenchmark:
    """One run of the list."""

    run: Run
    attempt: Attempt | None
    clocks: Clocks | None
    headline: Headline | None

    @property
    def state(self) -> str:
        return self.clocks.state if self.clocks else self.run.status

    @property
    def drafter_name(self) -> str:
        """What was measured, as its config says."""
        return str(self.run.config.get("drafter_name") or "")[:80]


@dataclass
class BenchmarksPage:
    """Reader of the first page of a project's benchmarks."""

    project_id: int
    may: Rights
    pokes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pokes = frozenset({project_topic(self.project_id)})

    def context(self, now: datetime, number: str = "1", sort: str = "") -> dict[str, Any]:
        """About seven queries."""
        page: Page[Run] = Paginator(benchmarks.benchmark_runs(self.project_id, sort), PER_PAGE).get_page(number)
        runs = list(page.object_list)
        last = last_attempts(run.pk for run in runs)
        found = benchmarks.headlines(attempt.pk for attempt in last.values())
        listed = []
        for run in runs:
            attempt = last.get(run.pk)
            judged = clocks(attempt, now) if attempt else None
            listed.append(ListedBenchmark(run, attempt, judged, found.get(attempt.pk) if attempt else None))
        return {
            "may": self.may,
            "project": Project.objects.defer("chat_template").get(pk=self.project_id),
            "page": page,
            "benchmarks": listed,
            "heads": heads(COLUMNS, sort, {}),
            "query": urlencode({"sort": sort}) if sort else "",
            "look_again": next_change(list(last.values()), now),
        }

    def read(self, now: datetime) -> Reading:
        now = database_now()
        context = self.context(now)
        found = fragments.render(LIST_FRAGMENTS, context)
        return Reading(fragments=found, title="Benchmarks", look_again=context["look_again"], now=now)

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0


@dataclass
class BenchmarkPage:
    """Reader of one attempt's results."""

    attempt_id: int
    may: Rights
    pokes: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.pokes = frozenset({run_topic(Attempt.objects.only("run_id").get(pk=self.attempt_id).run_id)})

    def context(self, now: datetime) -> dict[str, Any]:
        """Three queries. Raises Attempt.DoesNotExist."""
        attempt = Attempt.objects.select_related("run", "run__project").get(pk=self.attempt_id)
        rows = benchmarks.rows_of(attempt.pk)
        by_dataset = [row for row in rows if row.dataset != ALL]
        pooled = [row for row in rows if row.dataset == ALL]
        return {
            "may": self.may,
            "project": attempt.run.project,
            "run": attempt.run,
            "attempt": attempt,
            "clocks": clocks(attempt, now),
            "results": rows,
            "headline": benchmarks.headline(attempt, rows),
            "verdict": verdict(attempt, rows),
            "config": attempt.config or attempt.run.config,
            "datasets_figure": charts.dataset_figure(by_dataset),
            "concurrency_figure": charts.concurrency_figure(pooled),
            "positions_figure": charts.position_figure(pooled),
            "has_answers": attempt.drafted_answers.exists(),
            "look_again": next_change([attempt], now),
        }

    def read(self, now: datetime) -> Reading:
        now = database_now()
        context = self.context(now)
        title = f"{context['clocks'].state} · benchmark r{context['run'].pk}"
        found = fragments.render(FRAGMENTS, context)
        return Reading(fragments=found, title=title, look_again=context["look_again"], now=now)

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        return [], 0
