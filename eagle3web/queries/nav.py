"""The counts beside the menu, and the projects to choose from."""

from dataclasses import dataclass

from django.db.models import Count, Q

from eagle3web.enums import EngineState, RunStatus, Stage
from eagle3web.models import Checkpoint, Dataset, Engine, Project, Run


@dataclass(frozen=True)
class NavCounts:
    live_runs: int
    engines: int
    engines_down: int
    datasets: int
    checkpoints: int
    benchmarks: int


def nav_counts(project_id: int | None) -> NavCounts:
    """Five queries."""
    engines = Engine.objects.filter(enabled=True).aggregate(
        all=Count("pk"), down=Count("pk", filter=Q(state__in=[EngineState.DOWN, EngineState.HANGING]))
    )
    return NavCounts(
        live_runs=Run.objects.filter(project=project_id, status__in=RunStatus.LIVE).count(),
        engines=engines["all"],
        engines_down=engines["down"],
        datasets=Dataset.objects.count(),
        checkpoints=Checkpoint.objects.filter(project=project_id, removed_at=None).count(),
        benchmarks=Run.objects.filter(project=project_id, stage=Stage.BENCHMARK).count(),
    )


def projects() -> list[Project]:
    """All projects by name, without their templates. One query."""
    return list(Project.objects.defer("chat_template").order_by("name"))
