"""Extraction: which answers of which run, read by which target."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings

from eagle3web.domain.plans.answers import answer_sets
from eagle3web.domain.plans.configs import target_of, validate
from eagle3web.domain.plans.devices import device_of
from eagle3web.enums import Stage
from eagle3web.models import Run
from pipeline.artifacts import Home
from pipeline.errors import ConfigError


def extract_config(responses: Run, *, devices: Sequence[str] = (), **chosen: Any) -> dict[str, Any]:
    """The config that extracts hidden states from the answers that a generation run asks for, there already or not.

    `chosen` are keys of ExtractConfig. The folder to write to is named when an attempt starts. Raises ConfigError.
    """
    if responses.stage != Stage.GENERATE:
        raise ConfigError(f"{responses} is no generation run: it has no answers to extract from")
    project = responses.project
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
