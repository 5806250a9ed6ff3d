"""One attempt of one run: is it alive, what does it do, why?"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.template.loader import get_template
from django.urls import reverse

from eagle3web.domain.clock import database_now
from eagle3web.domain.waits import waits
from eagle3web.enums import RunStatus, ShownState, Stage
from eagle3web.live.records import Batch, Entry, Reading
from eagle3web.models import Attempt, Event, Run
from eagle3web.pages import decisions, fragments
from eagle3web.pages.clocks import Clocks, clocks, next_change
from eagle3web.pages.configs import differences
from eagle3web.pages.lineage import lineage_of
from eagle3web.pages.rights import Rights
from eagle3web.pages.stages import PARTS, StagePart
from eagle3web.pokes import project_topic, run_topic
from eagle3web.queries import log, points, pruned, runs, talk
from eagle3web.queries.erring import needs_look

FRAGMENTS = {
    "run-head": "runs/_head.html",
    "lineage": "lineage/_graph.html",
    "run-tabs": "runs/_tabs.html",
    "run-facts": "runs/_facts.html",
    "run-trouble": "runs/_trouble.html",
    "log-open": "runs/_log_open.html",
    "comments-news": "talk/_news.html",
}
"""Of every stage; each adds its own."""
SLOW_EVERY = timedelta(seconds=10)
QUEUED_FRAGMENTS = {
    "run-queued": "runs/_queued.html",
    "lineage": "lineage/_graph.html",
    "comments-news": "talk/_news.html",
}


@dataclass(frozen=True)
class Tab:
    attempt: Attempt
    clocks: Clocks


@dataclass
class RunPage:
    """Reader of one attempt; number 0 is a run that has none yet."""

    run_id: int
    number: int
    may: Rights
    pokes: frozenset[str] = field(init=False)
    part: StagePart = field(init=False)
    _log: log.LogReader | None = None
    _last_point: int | None = None
    _slow: dict[str, Any] = field(default_factory=dict)
    _slow_at: datetime | None = None
    _slow_for: tuple[str, bool] = ("", False)
    _items: dict[str, tuple[decisions.Decision, str]] = field(default_factory=dict)
    """Rendered decisions; they rarely change."""

    def __post_init__(self) -> None:
        run = runs.find_run(self.run_id)
        self.pokes = frozenset({run_topic(self.run_id), project_topic(run.project_id)})
        self.part = PARTS.get(run.stage, PARTS[Stage.GENERATE])

    def context(self, now: datetime) -> dict[str, Any]:
        """Everything the templates need. About twenty queries."""
        run = runs.find_run(self.run_id)
        attempts = runs.attempts_of(self.run_id)
        attempt = next((found for found in attempts if found.number == self.number), None)
        context = {
            "may": self.may,
            "run": run,
            "project": run.project,
            "attempt": attempt,
            "tabs": [Tab(found, clocks(found, now)) for found in attempts],
            "newest": attempts[0] if attempts else None,
            "resumable": run.status in RunStatus.RESUMABLE,
            "unsettled": run.settled_at is None and needs_look(run),
            "live": run.status in RunStatus.LIVE,
            "queued": run.status == RunStatus.QUEUED,
            "waits": waits_for(run) if run.status == RunStatus.QUEUED else "",
            "look_again": next_change(attempts, now),
            "lineage": lineage_of(self.run_id),
            "comments_stamp": talk.stamp(run=self.run_id),
        }
        context |= self._of_attempt(run, attempt, now) if attempt else {"state": run.status}
        if context["queued"] and attempt is context["newest"]:
            context["state"] = ShownState.QUEUED
        return context

    def _of_attempt(self, run: Run, attempt: Attempt, now: datetime) -> dict[str, Any]:
        shown = clocks(attempt, now)
        forecast = not shown.quiet and shown.live and shown.state != ShownState.PAUSED
        return (
            self.part.context(run, attempt, forecast)
            | self._read_slow(run, attempt, forecast, now)
            | {
                "clocks": shown,
                "state": shown.state,
                "part": self.part,
                "timeline": timeline(attempt),
                "took_s": (attempt.ended_at - attempt.started_at).total_seconds()
                if attempt.ended_at and attempt.started_at
                else None,
            }
        )

    def _read_slow(self, run: Run, attempt: Attempt, forecast: bool, now: datetime) -> dict[str, Any]:
        """Read anew when the attempt is in another state, else every few seconds."""
        due = self._slow_at is None or now - self._slow_at > SLOW_EVERY
        if self.part.slow is not None and (due or self._slow_for != (attempt.status, forecast)):
            self._slow = self.part.slow(run, attempt, forecast)
            self._slow_at, self._slow_for = now, (attempt.status, forecast)
        return self._slow

    def details(self, attempt: Attempt) -> dict[str, Any]:
        """What does not change while somebody looks: the config, and the charts up to now. About seven queries."""
        full = Attempt.objects.select_related("run").get(pk=attempt.pk)
        before = Attempt.objects.filter(run=self.run_id, number=self.number - 1).first()
        last = points.newest_id(attempt.pk)
        gone = pruned.of_attempt(attempt.pk)
        shards = pruned.shards_of(self.run_id)
        return self.part.details(full.run, full, last) | {
            "config": full.config,
            "versions": full.versions,
            "pruned": gone,
            "gone": [*gone.values(), *([shards] if shards else [])],
            "previous": before,
            "differences": differences(before.config, full.config) if before else [],
            "points_after": last,
            "points_url": reverse("attempt-points", args=[self.run_id, self.number]),
        }

    def read(self, now: datetime) -> Reading:
        now = database_now()
        context = self.context(now)
        attempt = context["attempt"]
        if attempt is None:
            context["goto"] = context["newest"] is not None
            return Reading(fragments=fragments.render(QUEUED_FRAGMENTS, context), title=title(context))
        streams = {"log": self._read_log(attempt), "points": self._read_points(attempt)}
        context["unfinished"] = self._log.unfinished if self._log else ("", 0)
        found = fragments.render({**FRAGMENTS, **self.part.fragments}, context) | self._render_items(context["timeline"])
        return Reading(fragments=found, title=title(context), streams=streams, look_again=context["look_again"])

    def missed(self, stream: str, after: int, up_to: int) -> tuple[list[Entry], int]:
        attempt = Attempt.objects.only("pk").get(run=self.run_id, number=self.number)
        start = max(after, up_to - points.LIMIT)
        if stream == "log":
            return list(log.window(attempt.pk, after=start, count=up_to - start)), start - after
        return self.part.points_after(attempt.pk, after, up_to=up_to, limit=10 * points.LIMIT), 0

    def _read_log(self, attempt: Attempt) -> Batch:
        if self._log is None:
            self._log = log.LogReader.last_lines(attempt.pk, 500)
        after = self._log.number
        return Batch(after, self._log.read())

    def _read_points(self, attempt: Attempt) -> Batch:
        if self._last_point is None:
            self._last_point = points.newest_id(attempt.pk)
        after = self._last_point
        found = self.part.points_after(attempt.pk, after)
        self._last_point = found[-1][0] if found else after
        return Batch(after, found)

    def _render_items(self, timeline: Sequence[decisions.Decision]) -> dict[str, str]:
        known, self._items = self._items, {}
        template = get_template("runs/_decision.html")
        for decision in timeline:
            old = known.get(decision.key)
            html = old[1] if old and old[0] == decision else template.render({"decision": decision}).strip()
            self._items[decision.key] = (decision, html)
        return {f"d-{key}": html for key, (_, html) in self._items.items()}


def waits_for(run: Run) -> str:
    """What keeps a queued run from its start, in words."""
    otherwise = f"waits for a worker on {run.host}" if run.host else "waits for a worker, which takes seconds"
    return waits([run]).get(run.pk, otherwise)


def title(context: dict[str, Any]) -> str:
    """What the tab says, the state first: `silent · r142 generate`."""
    return f"{context['state']} · r{context['run'].pk} {context['run'].stage}"


def timeline(attempt: Attempt) -> list[decisions.Decision]:
    """The attempt's decisions, newest first. Three queries."""
    rows: list[Event] = runs.events_of(attempt.pk, hidden=decisions.HIDDEN)
    controls = runs.controls_of(attempt.pk)
    acknowledged = decisions.Acknowledgements.among(rows)
    asked = {(row.payload.get("dataset"), row.payload.get("version")) for row in controls if row.kind == "set_budget"}
    found = [decisions.from_control(row, acknowledged) for row in controls]
    ended_itself = False
    for row in rows:
        ended_itself = ended_itself or row.kind in ("stage_failed", "stage_interrupted")
        if row.kind == "budget_applied" and (row.payload.get("dataset"), row.payload.get("budget_version")) in asked:
            continue
        if (decision := decisions.from_event(row)) is not None:
            found.append(decision)
    found += [decisions.from_transition(row) for row in runs.ends_of(attempt.pk) if row.new == "lost" or not ended_itself]
    return sorted(found, key=lambda decision: decision.order, reverse=True)[: runs.TIMELINE]
