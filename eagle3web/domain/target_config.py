"""What a target model's config.json says, as far as planning needs it; a GPU host's folder may not be readable from here."""

import json
from pathlib import Path


def target_number(target: Path, name: str) -> int | None:
    """A whole number of config.json, such as `hidden_size`; None when it cannot be read or is not there."""
    try:
        config = json.loads((target / "config.json").read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict):
        return None
    inner = config.get("text_config")
    # Targets with vision or audio keep the text model's numbers inside.
    found = config.get(name) or (inner.get(name) if isinstance(inner, dict) else None)
    return found if isinstance(found, int) else None
