"""What the command palette offers: pages and acts by name, and whatever rows fit what was typed."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Q
from django.urls import reverse

from eagle3web.enums import RunStatus
from eagle3web.models import Project, Run
from eagle3web.pages.rights import Rights
from eagle3web.queries import search
from eagle3web.queries.erring import NEEDS_LOOK
from eagle3web.queries.search import Wanted

TYPED = 100
"""Characters that are looked at."""
PAGES = (
    ("Overview", "overview", "project"),
    ("Budgets", "planner", "budgets"),
    ("Plan budgets", "planner", "plan"),
    ("Runs", "runs", "runs"),
    ("Answers", "answers", "answers"),
    ("Answers to review", "answers", "answers-review"),
    ("Checkpoints", "checkpoints", "checkpoints"),
    ("Benchmarks", "benchmarks", "benchmarks"),
)
"""Of a project: word, icon, route."""
SHARED = (
    ("Datasets", "datasets", "datasets"),
    ("Engines and hosts", "engines", "engines"),
    ("You: time zone, tokens, notifications", "user", "me"),
)
STARTS = (
    ("New run", "run-new"),
    ("New pipeline", "run-new-pipeline"),
    ("New extraction", "run-new-extract"),
    ("New training", "run-new-train"),
    ("New benchmark", "run-new-benchmark"),
    ("New server", "run-new-serve"),
)
STOPPABLE, RESUMABLE = RunStatus.LIVE, RunStatus.RESUMABLE
STEERED = frozenset({RunStatus.STARTING, RunStatus.RUNNING})
VERBS: tuple[tuple[str, str, frozenset[str], Q, str], ...] = (
    ("Stop", "stop", STOPPABLE, Q(), "change_run"),
    ("Pause", "pause", STEERED, Q(paused=False), "change_run"),
    ("Go on with", "unpause", STEERED, Q(paused=True), "change_run"),
    ("Resume", "resume", RESUMABLE, Q(), "change_run"),
    ("Settle", "settle", RunStatus.BROKEN | RunStatus.UNBROKEN, Q(settled_at=None) & NEEDS_LOOK, "change_run"),
    ("Clone", "clone", frozenset(RunStatus.values), Q(), "add_run"),
)
"""Word, verb of the address and icon, states in which it makes sense, what else must hold, needed right."""
ICONS = {"unpause": "play", "resume": "play", "settle": "check", "clone": "copy"}


@dataclass(frozen=True, kw_only=True)
class Hit:
    """One line of the palette."""

    group: str
    icon: str
    words: str
    href: str
    hint: str = ""
    state: str = ""
    """Of a run or an engine."""


def find(typed: str, project: Project | None, may: Rights) -> list[Hit]:
    """Everything that fits, best groups first. Without words: where one can go, and what one can do. At most nine queries."""
    wanted = Wanted.parse(typed[:TYPED])
    places = [hit for hit in (*_pages(project), *_acts(project, may)) if wanted.matches(hit.words, hit.group)]
    if not wanted.words:
        return places
    rows = [*_verbs(wanted, may), *_runs(wanted), *_rows(wanted)]
    return [*rows, *places] if wanted.number is not None else [*places, *rows]


def _pages(project: Project | None) -> Iterator[Hit]:
    for word, icon, route in PAGES if project else ():
        assert project is not None  # noqa: S101  (tells the type checker)
        yield Hit(group="Pages", icon=icon, words=word, href=reverse(route, args=[project.slug]), hint=project.name)
    for word, icon, route in SHARED:
        yield Hit(group="Pages", icon=icon, words=word, href=reverse(route))


def _acts(project: Project | None, may: Rights) -> Iterator[Hit]:
    if project and "add_run" in may:
        for word, route in STARTS:
            yield Hit(group="Acts", icon="plus", words=word, href=reverse(route, args=[project.slug]), hint=project.name)
    if "add_dataset" in may:
        yield Hit(group="Acts", icon="upload", words="Import a dataset", href=reverse("dataset-import"))
    if "add_engine" in may:
        yield Hit(group="Acts", icon="plus", words="Register an engine", href=reverse("engine-register"))


def _verbs(wanted: Wanted, may: Rights) -> Iterator[Hit]:
    """`stop 142`, or `stop` alone for all that can be stopped. One query at most."""
    for word, verb, statuses, fits, needs in VERBS:
        named = len(wanted.words[0]) >= 2 and word.lower().startswith(wanted.words[0])
        if not named or needs not in may or (len(wanted.words) > 1 and wanted.number is None):
            continue
        for run in search.runs_to_act_on(statuses, wanted.number).filter(fits)[: search.LIMIT]:
            href = reverse(f"run-{verb}", args=[run.pk])
            hint = f"{run.stage} {run.title}".strip()
            icon = ICONS.get(verb, verb)
            yield Hit(group="Acts", icon=icon, words=f"{word} r{run.pk}…", href=href, hint=hint, state=run.status)
        return


def _runs(wanted: Wanted) -> Iterator[Hit]:
    for run in search.runs(wanted):
        yield Hit(
            group="Runs", icon="runs", words=_name(run), href=reverse("run", args=[run.pk]), hint=run.project.name,
            state=run.status,
        )  # fmt: skip


def _name(run: Run) -> str:
    return f"r{run.pk} {run.stage} {run.title}".strip()


def _rows(wanted: Wanted) -> Iterator[Hit]:
    for dataset in search.datasets(wanted):
        href = reverse("dataset", args=[dataset.slug])
        yield Hit(group="Datasets", icon="datasets", words=dataset.slug, href=href, hint=dataset.title)
    for row in search.checkpoints(wanted):
        word = "promoted" if row.promoted else "best of its run" if row.best else ""
        yield Hit(
            group="Checkpoints", icon="checkpoints", words=f"r{row.run_id} step {row.step}",
            href=reverse("checkpoint", args=[row.pk]), hint=" · ".join(filter(None, (word, row.project.name))),
        )  # fmt: skip
    for attempt in search.benchmarks(wanted):
        words = f"Results of r{attempt.run_id}" + (f", attempt {attempt.number}" if attempt.number > 1 else "")
        hint = attempt.run.title or attempt.run.project.name
        yield Hit(group="Benchmarks", icon="benchmarks", words=words, href=reverse("benchmark", args=[attempt.pk]), hint=hint)
    for engine in search.engines(wanted):
        yield Hit(group="Engines", icon="engines", words=engine.name, href=reverse("engines"), state=engine.state)
    for host in search.hosts(wanted):
        yield Hit(group="Hosts", icon="disk", words=host.name, href=reverse("host", args=[host.name]))
    for project in search.projects(wanted):
        yield Hit(group="Projects", icon="overview", words=project.name, href=reverse("project", args=[project.slug]))
