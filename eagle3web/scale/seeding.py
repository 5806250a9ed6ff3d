"""Writes a whole project of a given size."""

import random
from collections.abc import Callable
from datetime import datetime

from eagle3web.models import Project, Run
from eagle3web.scale.answers import make_answers
from eagle3web.scale.drafters import make_checkpoints, make_results
from eagle3web.scale.project import make_place
from eagle3web.scale.runs import make_runs
from eagle3web.scale.size import Size
from eagle3web.scale.told import make_events, make_points

Report = Callable[[str, int], None]
"""Told the kind of rows and how many more of them are written."""


class SeedRefused(Exception):  # noqa: N818  (it reads as the sentence that it is)
    """The database holds what must not be mixed with rows for measuring."""


def seed(slug: str, size: Size, *, now: datetime, force: bool = False, report: Report) -> Project:
    """A project with that many rows of each kind. Equal arguments make equal rows, whatever the database.

    Raises SeedRefused where the project exists, and, without `force`, where there are runs of any other.
    """
    if Project.objects.filter(slug=slug).exists():
        raise SeedRefused(f"There is a project {slug} already; choose another name.")
    if Run.objects.exists() and not force:
        raise SeedRefused("This database has runs. Rows for measuring belong into one of their own; --force adds them here.")
    chance = random.Random(slug)  # noqa: S311  (repeatable on purpose)
    place = make_place(slug, now)
    made = make_runs(place, size.runs, now, chance, lambda n: report("runs", n))
    checkpoints = make_checkpoints(place, made, size.checkpoints, chance, lambda n: report("checkpoints", n))
    make_results(made, checkpoints, chance)
    make_points(made, size.points, chance, lambda n: report("points", n))
    make_events(made, size.events, chance, lambda n: report("events", n))
    make_answers(place, size.answers, now, chance, lambda n: report("answers", n))
    return place.project
