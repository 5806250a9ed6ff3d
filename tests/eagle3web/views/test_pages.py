"""All pages at once: hostile text is text on each of them, and each says something when there is nothing."""

import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from eagle3web.models import Attempt, Project
from tests.support import factories, told

pytestmark = pytest.mark.django_db
HOSTILE = factories.HOSTILE.replace("\x00", "")
"""Rows of PostgreSQL hold no NUL; a log does."""


@pytest.fixture
def attempt() -> Attempt:
    """A project in which everything that people, files or engines wrote is hostile."""
    project = factories.project(slug="p", name=HOSTILE, target_model=HOSTILE)
    author = factories.user()
    type(author).objects.filter(pk=author.pk).update(username=HOSTILE[:150])
    dataset = factories.dataset(slug="B1", title=HOSTILE, source=HOSTILE, licence=HOSTILE, package=HOSTILE)
    problem = {"file": "f", "line": 3, "id": HOSTILE, "reason": HOSTILE, "detail": HOSTILE}
    factories.revision(dataset, file_name=HOSTILE, report={"rejections": [problem], "warnings": [problem]})
    broken = factories.dataset(slug="B2")
    factories.revision(broken, state="failed", revision="", error=HOSTILE, file_name=HOSTILE)
    factories.budget(project, dataset)
    factories.engine(name=HOSTILE[:80], state="down", reason=HOSTILE, info={"model_path": HOSTILE, "version": HOSTILE})
    factories.host(name=HOSTILE[:60])
    config = {"engines": [{"name": HOSTILE}], "note": HOSTILE, "datasets": [{"slug": HOSTILE, "budget": 1}]}
    run = factories.run(project, title=HOSTILE, tags=[HOSTILE], author=author, config=config, host=HOSTILE[:60])
    factories.attempt(run, status="failed", reason=HOSTILE, config={"other": HOSTILE})
    attempt = factories.attempt(
        run, host=HOSTILE[:60], waiting_for=HOSTILE, argv=[HOSTILE], versions={HOSTILE: HOSTILE}, config=config
    )
    factories.progress(attempt, dataset=HOSTILE[:80])
    factories.progress(attempt, dataset="B1")
    factories.point(attempt, "tokens", 5.0, series=HOSTILE[:80])
    factories.event(attempt, "warning", text=HOSTILE, dataset=HOSTILE)
    factories.event(attempt, HOSTILE[:40], text=HOSTILE)
    factories.event(
        attempt, "sample_logged", dataset=HOSTILE, prompt_id=HOSTILE, prompt=HOSTILE, answer=HOSTILE, engine=HOSTILE
    )
    factories.event(attempt, "lengths_counted", dataset=HOSTILE, width=64, counts=[1, 2])
    payload = {"dataset": HOSTILE, "tokens": 5, "version": 2}
    factories.control(attempt, "set_budget", payload=payload, author=author)
    factories.log(attempt, f"{factories.HOSTILE}\n")
    drafters(project, config)
    return attempt


def drafters(project: Project, config: dict[str, Any]) -> None:
    """A run of each later stage, with hostile names, pieces and texts."""
    for pk, stage in ((901, "extract"), (902, "train"), (903, "benchmark")):
        run = factories.run(project, pk=pk, stage=stage, title=HOSTILE, config=config | {"drafter_name": HOSTILE})
        factories.attempt(run, pk=pk, summary={"verdict": HOSTILE}, counters=COUNTERS)
    trained, measured = Attempt.objects.get(pk=902), Attempt.objects.get(pk=903)
    facts: dict[str, Any] = {"metrics": {HOSTILE: 1.5}, "manifest": {HOSTILE: HOSTILE}, "card": HOSTILE, "path": HOSTILE[:400]}
    checkpoint = factories.checkpoint(trained, pk=901, **facts)
    for dataset in ("", HOSTILE[:80]):
        for mode in ("plain", "lookup", "drafter"):
            factories.result(measured, mode, dataset=dataset, checkpoint=checkpoint if mode == "drafter" else None)
    factories.answer(
        measured, dataset=HOSTILE[:80], prompt_id=HOSTILE, prompt=HOSTILE, pieces=[HOSTILE, "</span>"], depths=[1, 2]
    )


COUNTERS = {
    event.kind: asdict(event)
    for event in (told.extraction(), told.step(3), told.measured(3, dataset=HOSTILE, shape=HOSTILE, mode=HOSTILE))
}
PAGES: dict[str, Callable[[Attempt], str]] = {
    "project": lambda a: reverse("project", args=["p"]),
    "budgets": lambda a: reverse("budgets", args=["p"]),
    "runs": lambda a: reverse("runs", args=["p"]),
    "run": lambda a: reverse("run", args=[a.run_id]),
    "first attempt": lambda a: reverse("attempt", args=[a.run_id, 1]),
    "samples": lambda a: reverse("attempt-samples", args=[a.run_id, a.number]),
    "run-new": lambda a: reverse("run-new", args=["p"]),
    "run-stop": lambda a: reverse("run-stop", args=[a.run_id]),
    "extraction": lambda a: reverse("run", args=[901]),
    "training": lambda a: reverse("run", args=[902]),
    "benchmark run": lambda a: reverse("run", args=[903]),
    "checkpoints": lambda a: reverse("checkpoints", args=["p"]),
    "checkpoint": lambda a: reverse("checkpoint", args=[901]),
    "checkpoint-promote": lambda a: reverse("checkpoint-promote", args=[901]),
    "benchmarks": lambda a: reverse("benchmarks", args=["p"]),
    "benchmark": lambda a: reverse("benchmark", args=[903]),
    "datasets": lambda a: reverse("datasets"),
    "dataset": lambda a: reverse("dataset", args=["B1"]),
    "broken dataset": lambda a: reverse("dataset", args=["B2"]),
    "prompts": lambda a: reverse("dataset-prompts", args=["B1"]) + "?q=<script>alert(1)</script>",
    "import": lambda a: reverse("dataset-import") + "?slug=<script>alert(1)</script>",
    "engines": lambda a: reverse("engines"),
}
WHOLE = [
    "project", "budgets", "runs", "run", "datasets", "dataset", "engines", "import", "extraction", "training", "benchmark run",
    "checkpoints", "checkpoint", "benchmarks", "benchmark",
]  # fmt: skip
"""Pages with a shell, which people read."""
UNSEEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\u202a-\u202e]")


@pytest.mark.parametrize("name", PAGES)
def test_hostile_text_is_text(operator: Client, attempt: Attempt, name: str) -> None:
    answer = operator.get(PAGES[name](attempt))
    assert answer.status_code == 200
    html = answer.content.decode()
    assert "<script>alert" not in html
    assert "<b>bold" not in html
    shown = re.sub(r' value="[^"]*"', "", html)
    assert [shown[max(0, found.start() - 80) : found.end()] for found in UNSEEN.finditer(shown)] == []


@pytest.mark.parametrize("name", [*WHOLE, "run-new"])
def test_page_needs_no_inline_style_or_script(operator: Client, attempt: Attempt, name: str) -> None:
    answer = operator.get(PAGES[name](attempt))
    html = answer.content.decode()
    assert re.findall(r"<[^>]+ style=", html) == []
    assert re.findall(r"<[^>]+ on\w+=", html) == []
    assert [tag for tag in re.findall(r"<script[^>]*>", html) if "src=" not in tag and "application/json" not in tag] == []
    policy = answer.headers["Content-Security-Policy"]
    assert "'unsafe" not in policy
    assert "script-src 'self'" in policy


@pytest.mark.parametrize("name", WHOLE)
def test_page_is_labelled(operator: Client, attempt: Attempt, name: str) -> None:
    html = operator.get(PAGES[name](attempt)).content.decode()
    assert '<html lang="en"' in html
    assert html.count("<h1") == 1
    ids = re.findall(r' id="([^"]+)"', html)
    assert sorted(set(ids)) == sorted(ids)
    for control in re.findall(r"<(?:input|select)[^>]*>", html):
        key = re.search(r' id="([^"]+)"', control)
        labelled = "aria-label=" in control or 'type="hidden"' in control or "select" in control or "date" in control
        assert labelled or (key and f'for="{key[1]}"' in html) or "checkbox" in control or "radio" in control, control


def test_pages_say_something_when_there_is_nothing(operator: Client) -> None:
    assert "No project yet" in operator.get("/").content.decode()
    assert "No dataset yet" in operator.get("/datasets/").content.decode()
    assert "No engine yet" in operator.get("/engines/").content.decode()
    factories.project(slug="empty")
    assert "No budgets yet" in operator.get("/projects/empty/").content.decode()
    assert "No budgets yet" in operator.get("/projects/empty/budgets/").content.decode()
    assert "No run yet" in operator.get("/projects/empty/runs/").content.decode()
    assert "nothing to generate" in operator.get("/projects/empty/runs/new/").content.decode()


def test_viewer_sees_no_button_that_changes_something(viewer: Client, attempt: Attempt) -> None:
    words = ("New run", "Stop…", "Pause…", "Clone…", "Register an engine", "Import", "Edit budgets")
    for name in ("project", "budgets", "runs", "run", "datasets", "dataset", "engines"):
        html = viewer.get(PAGES[name](attempt)).content.decode()
        assert [word for word in words if f">{word}<" in html or f"</svg>{word}" in html] == [], name


@pytest.mark.parametrize(
    "path", ["/runs/999/", "/runs/1/attempts/9/", "/projects/none/", "/datasets/none/", "/runs/1/attempts/9/log/"]
)
def test_what_is_not_there_is_not_found(operator: Client, path: str) -> None:
    assert operator.get(path).status_code == 404


def test_front_page_leads_to_the_project_that_was_last_looked_at(viewer: Client) -> None:
    factories.project(slug="a", name="A")
    factories.project(slug="b", name="B")
    assert viewer.get("/").headers["Location"] == "/projects/a/"
    viewer.get("/projects/b/")
    assert viewer.get("/").headers["Location"] == "/projects/b/"


def test_pages_that_refuse_say_nothing_about_projects(attempt: Attempt) -> None:
    answer = Client().get("/nowhere/")
    assert answer.status_code == 404
    assert "Not found" in answer.content.decode()
    nobody = Client()
    nobody.force_login(factories.user())
    refused = nobody.get("/projects/p/")
    assert refused.status_code == 403
    for html in (answer.content.decode(), refused.content.decode()):
        assert 'class="side"' not in html


@pytest.mark.parametrize(
    ("path", "leads_to"),
    [
        ("/projects/", "/projects/kimi/"),
        ("/runs/?state=live&q=a+b", "/projects/kimi/runs/?state=live&q=a+b"),
        ("/budgets/", "/projects/kimi/budgets/"),
    ],
)
def test_list_without_its_project_leads_to_the_last_projects(viewer: Client, path: str, leads_to: str) -> None:
    factories.project(slug="a-first-one")
    factories.project(slug="kimi")
    viewer.get("/projects/kimi/")
    assert viewer.get(path).headers["Location"] == leads_to


def test_list_without_any_project_says_what_to_do(viewer: Client) -> None:
    assert viewer.get("/runs/").status_code == 200
