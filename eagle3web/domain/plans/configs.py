"""The config of each stage, checked and spelled out."""

import json
from typing import Any

from eagle3web.enums import Stage
from eagle3web.models import Project
from pipeline.benchmark.config import BenchmarkConfig
from pipeline.config import GenerateConfig, from_mapping, to_mapping
from pipeline.errors import ConfigError
from pipeline.extraction.config import ExtractConfig
from pipeline.serve.config import ServeConfig
from pipeline.training.config import TrainConfig

CONFIGS: dict[str, type] = {
    Stage.GENERATE: GenerateConfig,
    Stage.EXTRACT: ExtractConfig,
    Stage.TRAIN: TrainConfig,
    Stage.BENCHMARK: BenchmarkConfig,
    Stage.SERVE: ServeConfig,
}
"""The config of each stage that this version can run."""
PLANNED = frozenset(
    {
        "project", "target", "responses", "datasets", "hidden", "checkpoints", "drafter", "drafter_name", "output", "prompts",
        "devices", "python",
    }
)  # fmt: skip
"""Keys that no caller chooses: they say what a run is made of and where its results go, and an interpreter is a program."""


def validate(stage: str, config: dict[str, Any]) -> dict[str, Any]:
    """The config with all defaults spelled out. Raises ConfigError that names what is wrong."""
    if stage not in CONFIGS:
        raise ConfigError(f"the stage {stage} cannot be run; known are {', '.join(CONFIGS)}")
    return to_json(from_mapping(CONFIGS[stage], config))


def with_trust(project: Project, config: dict[str, Any]) -> dict[str, Any]:
    """The config with `trust_remote_code`, where its stage has that, as the project has it: no run decides this for itself.

    The project trusts the target that it names now; a run of an earlier one gets no leave that was given for another folder.
    """
    trusted = project.allow_remote_code and config.get("target") == project.target_path
    return config | ({"trust_remote_code": trusted} if "trust_remote_code" in config else {})


def to_json(config: Any) -> dict[str, Any]:  # noqa: ANN401  (any config of CONFIGS)
    """As the database keeps it: tuples are lists."""
    found: dict[str, Any] = json.loads(json.dumps(to_mapping(config)))
    return found


def target_of(project: Project) -> str:
    """The folder of the project's target model. Raises ConfigError when nobody named it."""
    if not project.target_path:
        raise ConfigError(
            f"{project} does not say where its target model lies; name the folder (target path) in the project's settings"
        )
    return project.target_path
