"""What a target's hidden states will look like, told from its config.json, before a weight is read."""

from pathlib import Path

from pipeline.artifacts import read_json
from pipeline.drafter_config import text_config
from pipeline.errors import ConfigError
from pipeline.feature_layers import FeatureLayers
from pipeline.model_fingerprint import model_fingerprint
from pipeline.shard_layout import Layout


def target_layout(folder: Path, *, feature_layers: tuple[int, ...] = (), dtype: str = "bfloat16") -> Layout:
    """The layout of states that the model in `folder` gives, stored as `dtype`. No layers named takes 2, L//2 and L−3.

    Last hidden states are those that the head reads, after the final norm: the teacher needs nothing of the family then, and
    16 bits hold them better than the sums before the norm. Raises ConfigError for layers that the target does not have,
    DataError for a folder without a model.
    """
    fingerprint = model_fingerprint(folder)
    config = read_json(folder / "config.json")
    text = text_config(config)
    names = ("num_hidden_layers", "hidden_size", "vocab_size")
    sizes = {name: text[name] for name in names if isinstance(text.get(name), int)}
    missing = [name for name in names if name not in sizes]
    if missing:
        raise ConfigError(f"{folder / 'config.json'}: {', '.join(missing)} is missing or no whole number")
    depth = sizes["num_hidden_layers"]
    layers = FeatureLayers(feature_layers) if feature_layers else FeatureLayers.default(depth)
    if layers.hidden_states[-1] >= depth:
        raise ConfigError(f"{folder}: no layer {layers.hidden_states[-1]}: a feature is the input of one of {depth} layers")
    return Layout(
        target=fingerprint,
        hidden_size=sizes["hidden_size"],
        vocab_size=sizes["vocab_size"],
        feature_layers=layers,
        last_hidden="post_norm",
        dtype=dtype,
    )
