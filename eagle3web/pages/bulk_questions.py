"""What a person is asked before something is done to several runs, with what becomes of each."""

from collections.abc import Sequence

from eagle3web.enums import RunStatus
from eagle3web.formats import count
from eagle3web.models import Run
from eagle3web.pages.questions import Point, Question

NAMED = 12
"""Runs that a sentence names; more are counted."""


def stop_question(runs: Sequence[Run]) -> Question:
    at_work = [run for run in runs if run.status in RunStatus.LIVE and run.status != RunStatus.QUEUED]
    queued = [run for run in runs if run.status == RunStatus.QUEUED]
    ended = [run for run in runs if run.status not in RunStatus.LIVE]
    points = []
    if at_work:
        points.append(
            Point("stop", f"{_runs(at_work)} at work: asked to stop, and what is done is saved first. {_names(at_work)}")
        )
    if queued:
        points.append(Point("stop", f"{_runs(queued)} queued: will not start. {_names(queued)}"))
    if ended:
        points.append(Point("check", f"{_runs(ended)} ended already: nothing happens. {_names(ended)}"))
    points.append(Point("play", "Each can be resumed, and goes on from where its files end."))
    return Question(
        title=f"Stop {_runs([*at_work, *queued])}?",
        points=points,
        act=f"Stop {_runs([*at_work, *queued])}",
        refuse="Keep running",
        icon="stop",
        dangerous=True,
    )


def tag_question(runs: Sequence[Run]) -> Question:
    points = [
        Point("tag", f"{_runs(runs)}: {_names(runs)}"),
        Point("check", "Tags that a run has besides stay. Several are separated by commas."),
    ]
    return Question(title=f"Tags of {_runs(runs)}", points=points, act="Change tags", refuse="Leave them", icon="tag")


def _runs(runs: Sequence[Run]) -> str:
    return f"{count(len(runs))} run{'' if len(runs) == 1 else 's'}"


def _names(runs: Sequence[Run]) -> str:
    more = f" and {count(len(runs) - NAMED)} more" if len(runs) > NAMED else ""
    return ", ".join(f"r{run.pk}" for run in runs[:NAMED]) + more + "."
