"""A project with everything that a pipeline asks for, and runs of each stage in it."""

from pathlib import Path

from eagle3web.domain import chains
from eagle3web.domain.chains import Chain
from eagle3web.enums import RunStatus
from eagle3web.models import Checkpoint, Project, Run
from tests.support import factories


def ready_project(**fields: object) -> Project:
    """Two datasets with budgets, the second one switched off, and a target of hidden size 576."""
    found = factories.project(**{"slug": "kimi", "target_path": "/models/smollm2"} | fields)
    for slug, enabled in (("B1", True), ("B2", False)):
        dataset = factories.dataset(slug=slug)
        factories.revision(dataset, revision=slug[-1] * 64, accepted=10)
        factories.budget(found, dataset, tokens=1000, enabled=enabled)
    return found


def chain_of(project: Project, **fields: object) -> list[Run]:
    """Generate, extract, train, benchmark, queued."""
    return chains.start_chain(project, Chain(engines=[factories.engine()], **fields), user=factories.user())  # type: ignore[arg-type]


def finish(run: Run) -> Run:
    Run.objects.filter(pk=run.pk).update(status=RunStatus.FINISHED)
    run.refresh_from_db()
    return run


def saved(train: Run, step: int, folder: Path | str = "/checkpoints", **fields: object) -> Checkpoint:
    """A checkpoint of a training run's newest attempt."""
    attempt = train.attempts.last() or factories.attempt(train)
    defaults = {"path": f"{folder}/step-{step:06d}", "saved_at": attempt.created_at}
    return Checkpoint.objects.create(project=train.project, run=train, attempt=attempt, step=step, **defaults | fields)
