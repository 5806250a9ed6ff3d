"""Training: on stored hidden states, or on answers that the target reads along the way."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from eagle3web.domain.plans.answers import answer_sets
from eagle3web.domain.plans.configs import target_of, validate
from eagle3web.domain.plans.devices import device_of, several
from eagle3web.domain.target_config import target_number
from eagle3web.enums import Stage
from eagle3web.models import Run
from pipeline.artifacts import Home
from pipeline.errors import ConfigError


def train_config(
    sources: Sequence[Run], *, captured: Sequence[str] = (), devices: Sequence[str] = (), **chosen: Any
) -> dict[str, Any]:
    """The config that trains on what `sources` make: extraction runs (stored), or one generation run: online, or on the hidden
    states that its engines keep in the folders `captured`.

    `chosen` are keys of TrainConfig. The folder of checkpoints is named when an attempt starts. Raises ConfigError.
    """
    if not sources:
        raise ConfigError("nothing was chosen to train on")
    project, home = sources[0].project, Home(settings.EAGLE3_HOME)
    given: dict[str, Any] = {
        "project": project.slug,
        "target": target_of(project),
        "checkpoints": "",
        "device": device_of(devices[:1]),
        "devices": several(devices),
    }
    stages = {source.stage for source in sources}
    if stages == {Stage.EXTRACT}:
        given |= {"source": "stored", "hidden": [str(home.hidden(project.slug, source.pk)) for source in sources]}
    elif stages == {Stage.GENERATE} and len(sources) == 1 and captured:
        given |= {"source": "stored", "hidden": list(captured), "datasets": answer_sets(sources[0])}
    elif stages == {Stage.GENERATE} and len(sources) == 1:
        given |= {
            "source": "online",
            "responses": str(home.responses(project.slug)),
            "datasets": answer_sets(sources[0]),
        }
    else:
        raise ConfigError("train on extraction runs, or online on one generation run")
    config = validate(Stage.TRAIN, given | chosen)
    # Said now, not after the hours of generation that come before.
    vocabulary = target_number(Path(config["target"]), "vocab_size")
    if vocabulary is not None and config["draft_vocab_size"] > vocabulary:
        raise ConfigError(f"draft_vocab_size is {config['draft_vocab_size']:,}; the target has {vocabulary:,} tokens")
    return config
