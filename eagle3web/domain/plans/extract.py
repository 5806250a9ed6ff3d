"""Extraction: which answers of which run, read by which target."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings

from eagle3web.domain.plans.answers import answer_sets
from eagle3web.domain.plans.configs import target_of, validate
from eagle3web.domain.plans.devices import device_of
from eagle3web.domain.plans.serve import engine_of
from eagle3web.enums import Stage
from eagle3web.models import Engine, Project, Run
from pipeline.artifacts import Home
from pipeline.errors import ConfigError


def extract_config(responses: Run, *, devices: Sequence[str] = (), **chosen: Any) -> dict[str, Any]:
    """The config that extracts hidden states from the answers that a generation run asks for, there already or not.

    `chosen` are keys of ExtractConfig; as `server` a serve run that leaves hidden states, by its number. The folder to write to
    and the server's address are named when an attempt starts. Raises ConfigError.
    """
    if responses.stage != Stage.GENERATE:
        raise ConfigError(f"{responses} is no generation run: it has no answers to extract from")
    project = responses.project
    if "states" in chosen:
        raise ConfigError("states: set by the system")
    if chosen.get("server"):
        run = _server(project, str(chosen["server"]))
        chosen |= {"server": f"r{run.pk}", "states": str(Home(settings.EAGLE3_HOME).states(project.slug, run.pk))}
    return validate(
        Stage.EXTRACT,
        {
            "project": project.slug,
            "responses": str(Home(settings.EAGLE3_HOME).responses(project.slug)),
            "datasets": answer_sets(responses),
            "hidden": "",
            "target": target_of(project),
            "device": device_of(devices),
        }
        | chosen,
    )


def server_address(run: Run) -> dict[str, str]:
    """Keys of an attempt's ExtractConfig: where the server answers by now that its run named. Raises ConfigError."""
    server = _server(run.project, str(run.config["server"]))
    engine = Engine.objects.filter(name=engine_of(server), enabled=True).first()
    if engine is None:
        raise ConfigError(f"{server} has no engine that is switched on: start it, and wait until it answers")
    return {"server": engine.url, "states": str(Home(settings.EAGLE3_HOME).states(run.project.slug, server.pk))}


def _server(project: Project, name: str) -> Run:
    number = name.removeprefix("r")
    is_number = number.isascii() and number.isdecimal() and len(number) < 16
    found = Run.objects.filter(project=project, stage=Stage.SERVE, pk=int(number)).first() if is_number else None
    if found is None or not found.config.get("states"):
        raise ConfigError(f"server {name[:40]}: no serve run of this project that leaves hidden states")
    return found
