"""The answers that a project leaves out of what it trains on: a list that each attempt writes into its config."""

from collections import defaultdict
from typing import Any

from eagle3web.domain.plans.configs import to_json
from eagle3web.enums import FlagState, Stage
from eagle3web.models import AnswerFlag, Project, Run
from pipeline.exclusions import Exclusions


def exclusions(project: Project, datasets: frozenset[str] | None = None) -> Exclusions:
    """The project's list as it stands, of these datasets or of all. One query."""
    rows = AnswerFlag.objects.filter(project=project, state=FlagState.EXCLUDED)
    if datasets is not None:
        rows = rows.filter(dataset__in=datasets)
    keys: dict[str, list[str]] = defaultdict(list)
    people = set()
    for dataset, key, name in rows.order_by("dataset", "key").values_list("dataset", "key", "reviewed_by__username"):
        keys[dataset].append(key)
        people.add(name or "the system")
    return Exclusions.of(keys, by=people)


def exclusions_of_attempt(run: Run) -> dict[str, Any]:
    """What the next attempt of an extraction or a training leaves out, as its config has it.

    A training keeps the list of its first attempt: the order of its data, and so its resuming, hangs on it.
    """
    before = run.attempts.order_by("number").values_list("config__exclusions", flat=True).first()
    if run.stage == Stage.TRAIN and before is not None:
        kept: dict[str, Any] = before
        return kept
    named = frozenset(str(chosen["dataset"]) for chosen in run.config.get("datasets", ()))
    return to_json(exclusions(run.project, named or None))
