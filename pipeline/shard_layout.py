"""What the shards of one extraction hold: the record that writer, reader and size forecast agree on."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from pipeline.artifacts import read_record
from pipeline.errors import ConfigError, DataError
from pipeline.feature_layers import FeatureLayers

FORMAT = 1
DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What the states are. Two extractions may share a folder only when their layouts are equal."""

    target: str
    """Name or content hash of the target model."""
    hidden_size: int
    vocab_size: int
    feature_layers: FeatureLayers
    last_hidden: Literal["pre_norm", "post_norm"]
    """Whether the last hidden state was taken before or after the target's final norm."""
    dtype: str
    """Of the states: bfloat16, float16 or float32."""

    def __post_init__(self) -> None:
        if self.dtype not in DTYPES:
            raise ConfigError(f"hidden states cannot be stored as {self.dtype!r}; known are {', '.join(DTYPES)}")

    @property
    def bytes_per_token(self) -> int:
        """States, ids, mask and argmax of one token."""
        states = (len(self.feature_layers.hidden_states) + 1) * self.hidden_size
        return states * DTYPES[self.dtype].itemsize + 4 + 1 + 4

    def to_json(self) -> dict[str, Any]:
        values = asdict(self) | {"format": FORMAT, "bytes_per_token": self.bytes_per_token}
        layers = {"hidden_states": list(self.feature_layers.hidden_states), "sglang": list(self.feature_layers.sglang)}
        return values | {"feature_layers": layers}

    @classmethod
    def read(cls, folder: Path) -> "Layout":
        """Raises DataError when the folder holds no shards, shards of another format, or a damaged layout."""
        path = folder / "layout.json"
        if not path.exists():
            raise DataError(f"{folder}: no hidden states here (layout.json is missing)")
        values = read_record(path)
        if values.pop("format", None) != FORMAT:
            raise DataError(f"{path}: another format of shards than {FORMAT}")
        del values["bytes_per_token"]
        return cls(**values | {"feature_layers": FeatureLayers(tuple(values["feature_layers"]["hidden_states"]))})
