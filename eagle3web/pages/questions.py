"""What a person is asked before something dangerous: what will happen, what is kept, what can be done afterwards."""

from dataclasses import dataclass

from eagle3web.enums import AttemptStatus, Stage
from eagle3web.formats import count, tokens
from eagle3web.models import Attempt, Run
from eagle3web.pages.datasets_of_run import Totals, totals
from eagle3web.queries import runs


@dataclass(frozen=True)
class Point:
    icon: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Question:
    title: str
    points: list[Point]
    act: str
    """The button that does it."""
    refuse: str
    icon: str
    dangerous: bool = False


def question(verb: str, run: Run) -> Question:
    """The question of a verb, with the numbers of this moment. About two queries."""
    newest = Attempt.objects.filter(run=run).order_by("-number").first()
    if verb in ASK_ANY and (run.stage != Stage.GENERATE or verb not in ASK):
        return ASK_ANY[verb](f"r{run.pk}", newest, KEPT.get(run.stage, "What is written stays."))
    progress = runs.datasets_of(newest.pk) if newest else []
    return ASK[verb](f"r{run.pk}", newest, totals(progress, forecast=False))


def _kept(now: Totals) -> Point:
    return Point(
        "check", f"{count(now.answers)} answers stay, {tokens(now.tokens + now.over)} tokens, and all events and logs."
    )


def _stop(name: str, newest: Attempt | None, now: Totals) -> Question:
    if newest is None:
        points = [Point("stop", "It is queued and will not start."), Point("play", "It can be resumed later.")]
    else:
        points = [
            Point(
                "stop",
                f"{count(now.in_flight)} answers in flight ({tokens(now.in_flight_tokens)} tokens) are cut off, not written.",
            ),
            _kept(now),
            Point("play", f"It can be resumed: attempt {newest.number + 1} goes on from here."),
        ]
    return Question(
        title=f"Stop {name}?", points=points, act=f"Stop {name}", refuse="Keep running", icon="stop", dangerous=True
    )


def _pause(name: str, newest: Attempt | None, now: Totals) -> Question:
    points = [
        Point("pause", f"No new request is sent. {count(now.in_flight)} answers in flight are finished and written."),
        Point("engines", "The process stays, with its engines and devices."),
        Point("play", "It goes on at once when you say so."),
    ]
    return Question(title=f"Pause {name}?", points=points, act=f"Pause {name}", refuse="Keep running", icon="pause")


def _unpause(name: str, newest: Attempt | None, now: Totals) -> Question:
    points = [Point("play", "Requests are sent again, from where it was paused."), _kept(now)]
    return Question(title=f"Let {name} go on?", points=points, act="Go on", refuse="Stay paused", icon="play")


def _resume(name: str, newest: Attempt | None, now: Totals) -> Question:
    points = [
        Point(
            "play",
            f"Attempt {newest.number + 1 if newest else 1} starts with the budgets as they are now, and a log of its own.",
        ),
        Point("check", f"{count(now.answers)} answers on disk are not asked for again."),
    ]
    if _passes_over(newest, now):
        points.append(Point("info", f"{count(now.errors)} prompts that gave an error are not, either: a clone can retry them."))
    return Question(title=f"Resume {name}?", points=points, act=f"Resume {name}", refuse="Not now", icon="play")


def _passes_over(newest: Attempt | None, now: Totals) -> bool:
    """Whether prompts that gave an error are left as they are by another attempt with the same config."""
    return newest is not None and now.errors > 0 and not newest.config.get("retry_errors")


def _settle(name: str, newest: Attempt | None, now: object) -> Question:
    later = "" if newest and newest.status == AttemptStatus.FINISHED else ", and can be resumed at any time"
    points = [
        Point("check", f"It stays as it is, with its state, its events and its log{later}."),
        Point("bell", "It is no longer listed among what needs you, for nobody of the team."),
    ]
    return Question(title=f"Settle {name}?", points=points, act=f"Settle {name}", refuse="Not now", icon="check")


def _concurrency(name: str, newest: Attempt | None, now: Totals) -> Question:
    points = [
        Point("planner", f"{count(now.in_flight)} requests are in flight now, over all engines."),
        Point("check", "Fewer: those in flight are finished first. Later attempts start with the new number."),
    ]
    return Question(title=f"Requests in flight of {name}", points=points, act="Set", refuse="Leave it", icon="check")


def _clone(name: str, newest: Attempt | None, now: Totals) -> Question:
    points = [
        Point("copy", f"A new run with the config of {name}, and the budgets as they are now."),
        Point("check", "Answers that the project has are not asked for again."),
    ]
    if _passes_over(newest, now):
        failed = f"{count(now.errors)} prompts that gave an error are not, either: change something first to retry them."
        points.append(Point("info", failed))
    return Question(title=f"Clone {name}?", points=points, act="Clone and start", refuse="Not now", icon="copy")


ASK = {
    "stop": _stop,
    "pause": _pause,
    "unpause": _unpause,
    "resume": _resume,
    "settle": _settle,
    "concurrency": _concurrency,
    "clone": _clone,
}


KEPT: dict[str, str] = {
    Stage.EXTRACT: "Finished shards stay; what is pending is written first.",
    Stage.TRAIN: "A checkpoint is saved first, with all that a resumed training needs.",
    Stage.SERVE: "Requests that it works on may end first; runs that use it wait for another engine, or for its return.",
    Stage.BENCHMARK: "Passes that are done stay measured, and their results are shown.",
}
"""What a stage saves when it stops."""


def _stop_any(name: str, newest: Attempt | None, kept: str) -> Question:
    points = [Point("check", kept), Point("play", "It can be resumed, and goes on from there.")]
    if newest is None:
        points = [Point("stop", "It is queued and will not start."), Point("play", "It can be resumed later.")]
    return Question(
        title=f"Stop {name}?", points=points, act=f"Stop {name}", refuse="Keep running", icon="stop", dangerous=True
    )


def _pause_any(name: str, newest: Attempt | None, kept: str) -> Question:
    points = [
        Point("pause", "What is being computed is finished first; then nothing is begun."),
        Point("engines", "The process stays, with its devices and all that it holds in memory."),
        Point("play", "It goes on at once when you say so."),
    ]
    return Question(title=f"Pause {name}?", points=points, act=f"Pause {name}", refuse="Keep running", icon="pause")


def _unpause_any(name: str, newest: Attempt | None, kept: str) -> Question:
    points = [Point("play", "It goes on from where it was paused.")]
    return Question(title=f"Let {name} go on?", points=points, act="Go on", refuse="Stay paused", icon="play")


def _resume_any(name: str, newest: Attempt | None, kept: str) -> Question:
    points = [
        Point("play", f"Attempt {newest.number + 1 if newest else 1} starts with the same config, and a log of its own."),
        Point("check", "It goes on from what the last attempt saved."),
    ]
    return Question(title=f"Resume {name}?", points=points, act=f"Resume {name}", refuse="Not now", icon="play")


def _clone_any(name: str, newest: Attempt | None, kept: str) -> Question:
    points = [
        Point("copy", f"A new run with the config of {name}, from the beginning."),
        Point("check", f"{name} and what it made stay as they are."),
    ]
    return Question(title=f"Clone {name}?", points=points, act="Clone and start", refuse="Not now", icon="copy")


def _drafter(name: str, newest: Attempt | None, kept: str) -> Question:
    points = [
        Point(
            "engines", "Its server is drained, ended, and started again with the other drafter: that takes as long as a start."
        ),
        Point("check", "Runs that use it wait meanwhile. Later attempts of this run start with it, too."),
    ]
    return Question(title=f"Drafter of {name}", points=points, act="Swap", refuse="Leave it", icon="checkpoints")


ASK_ANY = {
    "drafter": _drafter,
    "stop": _stop_any,
    "pause": _pause_any,
    "unpause": _unpause_any,
    "resume": _resume_any,
    "settle": _settle,
    "clone": _clone_any,
}
"""Of every stage but generation, which says its numbers."""
