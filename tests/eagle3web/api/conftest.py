import pytest

from eagle3web import tasks
from tests.support import factories as make


@pytest.fixture
def rows(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """One row of everything that programs ask for, for a superuser who may do all, and nothing that starts a process."""
    monkeypatch.setattr(tasks, "launch_soon", lambda run: None)
    project = make.project(slug="k2", target_path="/models/k2")
    make.revision(make.budget(project, make.dataset(slug="B1")).dataset)
    make.dataset(slug="B2")
    make.engine(name="e1")
    make.host(name="e1")
    attempt = make.attempt(make.run(project))
    make.progress(attempt)
    make.event(attempt, "warning", text="x")
    make.log(attempt, "line\n")
    make.point(attempt, "loss", 1.0)
    make.comment(make.checkpoint(attempt))
    make.stored_answer(project)
    make.result(make.attempt(make.run(project, stage="benchmark")), "plain")
