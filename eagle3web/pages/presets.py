"""The presets of training as a table: what a field that is left empty means."""

from typing import Any

from eagle3web.domain.presets import PRESETS
from eagle3web.formats import count

LABELS = {
    "draft_vocab_size": "Draft vocabulary",
    "objective.steps": "Steps K",
    "epochs": "Epochs",
    "max_minutes": "Minutes at most",
    "optimizer.learning_rate": "Learning rate",
    "tokens_per_batch": "Tokens a batch",
}


def preset_rows() -> list[tuple[str, list[str]]]:
    """A label, and the value of each preset; after a first row with the names of the presets."""
    rows = [("", [preset.label for preset in PRESETS.values()])]
    return rows + [(label, [_word(preset.config, key) for preset in PRESETS.values()]) for key, label in LABELS.items()]


def _word(config: Any, key: str) -> str:  # noqa: ANN401  (nested mappings)
    for part in key.split("."):
        config = config[part]
    if key == "max_minutes" and not config:
        return "no limit"
    return count(config) if isinstance(config, int) else f"{config:g}"
