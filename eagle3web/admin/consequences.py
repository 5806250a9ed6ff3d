"""What follows from an edit, said before it is made and once more when it was."""

from collections.abc import Iterable

from eagle3web.enums import RunStatus
from eagle3web.models import Engine, Run, User

NAMED = 5
"""Runs that are named; more are counted."""


def of_engine(engine: Engine) -> str:
    """Which live runs talk to it, and what switching it off does to them. One query."""
    using = [run for run in Run.objects.filter(status__in=RunStatus.LIVE).order_by("-id") if _uses(run, engine)]
    if not using:
        return "No live run is using this engine. Runs that start later are offered only engines that are switched on."
    return (
        f"{_names(using)} {'is' if len(using) == 1 else 'are'} using this engine. Switching it off, or changing its address, "
        "does not stop that: an attempt keeps the engines that it started with, until it ends or is resumed."
    )


def of_person(person: User) -> str:
    """What deactivating somebody stops, and what goes on. Three queries."""
    live = list(Run.objects.filter(author=person, status__in=RunStatus.LIVE).order_by("-id"))
    tokens, channels = person.api_tokens.count(), person.channels.filter(enabled=True).count()
    goes_on = f"{_names(live)}, started by them, {'goes' if len(live) == 1 else 'go'} on. " if live else ""
    return (
        "Without “active” they cannot sign in, open pages close within half a minute, "
        f"{_count(tokens, 'API token')} stop{'s' if tokens == 1 else ''} working and {_count(channels, 'channel')} "
        f"get{'s' if channels == 1 else ''} no more messages. {goes_on}What they did stays in the audit trail."
    )


def _uses(run: Run, engine: Engine) -> bool:
    """By the address or the name in the run's frozen config."""
    told = run.config.get("engines")
    found = told if isinstance(told, list) else []
    return any(isinstance(one, dict) and (one.get("url") == engine.url or one.get("name") == engine.name) for one in found)


def _names(runs: Iterable[Run]) -> str:
    found = [f"r{run.pk}" for run in runs]
    more = f" and {len(found) - NAMED} more" if len(found) > NAMED else ""
    return ", ".join(found[:NAMED]) + more


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"
