"""What a checkpoint's own manifest says about the target that it was trained for."""

from pathlib import Path

from pipeline.artifacts import read_json
from pipeline.errors import DataError
from pipeline.model_fingerprint import model_fingerprint, same_model


def other_target(checkpoint: Path, target: Path) -> str:
    """In words, when the manifest names other weights than the target's; empty when it names these, or none.

    A target of the same sizes loads and drafts little that is accepted; one that was only quantized serves just as well.
    """
    manifest = checkpoint / "manifest.json"
    try:
        lineage = read_json(manifest).get("lineage", {}) if manifest.exists() else {}
        trained_for, ours = str(lineage.get("target", "")), model_fingerprint(target)
    except (OSError, ValueError, AttributeError, DataError):
        return ""
    if "@" not in trained_for or same_model(trained_for, ours):
        return ""
    return f"trained for {trained_for}, and this target is {ours}: fewer drafts may be accepted"
