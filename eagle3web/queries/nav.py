"""The counts beside the menu, and the projects to choose from."""

from dataclasses import dataclass

from django.db.models import Count, Q

from eagle3web.enums import EngineState, RunStatus
from eagle3web.models import Dataset, Engine, Project, Run


@dataclass(frozen=True)
class NavCounts:
    live_runs: int
    engines: int
    engines_down: int
    datasets: int


def nav_counts(project_id: int | None) -> NavCounts:
    """Three queries."""
    engines = Engine.objects.filter(enabled=True).aggregate(
        all=Count("pk"), down=Count("pk", filter=Q(state__in=[EngineState.DOWN, EngineState.HANGING]))
    )
    return NavCounts(
        live_runs=Run.objects.filter(project=project_id, status__in=RunStatus.LIVE).count(),
        engines=engines["all"],
        engines_down=engines["down"],
        datasets=Dataset.objects.count(),
    )


def projects() -> list[Project]:
    """All projects by name, without their templates. One query."""
    return list(Project.objects.defer("chat_template").order_by("name"))
