"""The frame around every page."""

from dataclasses import dataclass
from typing import Any

from django import template
from django.http import HttpRequest
from django.urls import reverse

from eagle3web.models import Project
from eagle3web.queries import nav

register = template.Library()
KEYS = {
    "Overview": "o",
    "Budgets": "b",
    "Runs": "r",
    "Answers": "s",
    "Checkpoints": "c",
    "Benchmarks": "m",
    "Datasets": "d",
    "Engines": "e",
    "Audit": "u",
    "Admin": "a",
}
STARTS = {"run-new", "run-new-pipeline", "run-new-extract", "run-new-train", "run-new-benchmark", "run-new-serve"}


@dataclass(frozen=True)
class Item:
    word: str
    icon: str
    href: str
    current: bool
    fragment: str = ""

    @property
    def key(self) -> str:
        """What leads here after `g`."""
        return KEYS.get(self.word, "")


@register.inclusion_tag("shell/_sidebar.html", takes_context=True)
def sidebar(context: dict[str, Any]) -> dict[str, Any]:
    """The menu: of the page's project, or of the one that this person last looked at. Empty for who may not look at any."""
    request: HttpRequest = context["request"]
    may_look = request.user.has_perm("eagle3web.view_run")
    projects = nav.projects() if may_look else []
    project = context.get("project") or _last_project(request, projects)
    if project is not None and request.session.get("project") != project.pk:
        request.session["project"] = project.pk
    user = request.user
    items, shared = _project_items(request, project), _shared_items(request) if may_look else []
    return {
        "csrf_token": context.get("csrf_token"),
        "user": user,
        "roles": ", ".join(sorted(group.name for group in user.groups.all())) or ("admin" if user.is_superuser else ""),
        "project": project,
        "projects": projects,
        "can_add_project": user.is_staff and user.has_perm("eagle3web.add_project"),
        "nav": nav.nav_counts(project.pk if project else None),
        "items": items,
        "shared": shared,
        "places": [(item.key, item.word) for item in (*items, *shared) if item.key],
    }


@register.inclusion_tag("shell/_bell_place.html", takes_context=True)
def bell(context: dict[str, Any]) -> dict[str, Any]:
    """The bell of the project that the menu shows; what it says comes by socket. After `sidebar`, which knows the project."""
    request: HttpRequest = context["request"]
    project = request.session.get("project") if request.user.has_perm("eagle3web.view_run") else None
    return {"project_id": project, "trouble": None}


def _last_project(request: HttpRequest, projects: list[Project]) -> Project | None:
    last = request.session.get("project")
    return next((project for project in projects if project.pk == last), projects[0] if projects else None)


def _project_items(request: HttpRequest, project: Project | None) -> list[Item]:
    if project is None:
        return []
    places: tuple[tuple[str, str, str, set[str], str], ...] = (
        ("Overview", "overview", "project", set(), ""),
        ("Budgets", "planner", "budgets", {"plan", "plan-save"}, ""),
        ("Runs", "runs", "runs", STARTS | {"run", "attempt"}, "shell/_count_runs.html"),
        ("Answers", "answers", "answers", {"answer", "answers-review"}, ""),
        ("Checkpoints", "checkpoints", "checkpoints", {"checkpoint"}, "shell/_count_checkpoints.html"),
        ("Benchmarks", "benchmarks", "benchmarks", {"benchmark"}, "shell/_count_benchmarks.html"),
    )
    name = _name(request)
    return [
        Item(word, icon, reverse(route, args=[project.slug]), name == route or name in inside, fragment)
        for word, icon, route, inside, fragment in places
    ]


def _shared_items(request: HttpRequest) -> list[Item]:
    name = _name(request)
    places = (
        ("Datasets", "datasets", "datasets", {"dataset", "dataset-import"}, "shell/_count_datasets.html"),
        ("Engines", "engines", "engines", {"engine-register", "host"}, "shell/_count_engines.html"),
    )
    items = [
        Item(word, icon, reverse(route), name == route or name in inside, fragment)
        for word, icon, route, inside, fragment in places
    ]
    if request.user.has_perm("eagle3web.change_retentionpolicy"):
        inside = {"retention", "retention-rule", "retention-prune", "retention-drop"}
        items.append(Item("Retention", "retention", reverse("retention"), name in inside))
    if request.user.has_perm("eagle3web.view_auditentry"):
        items.append(Item("Audit", "audit", reverse("audit"), name == "audit"))
    if request.user.is_staff:
        items.append(Item("Admin", "admin", reverse("admin:index"), current=False))
    return items


def _name(request: HttpRequest) -> str:
    return request.resolver_match.url_name or "" if request.resolver_match else ""
