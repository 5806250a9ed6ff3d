from typing import Any

import pytest

from pipeline.config import from_mapping, to_mapping
from pipeline.errors import ConfigError
from pipeline.serve.config import ServeConfig

NEEDED: dict[str, Any] = {"project": "p", "target": "m"}


def test_config_is_the_same_after_json() -> None:
    config = from_mapping(ServeConfig, NEEDED | {"extra": {"page-size": 16}, "restart": {"most": 2}, "devices": ["cuda:0"]})
    assert from_mapping(ServeConfig, to_mapping(config)) == config
    assert (config.restart.when, config.restart.most, config.speculation) == ("on-failure", 2, "none")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"drafter": "ckpt"}, "speculation is none: a drafter goes with speculation “drafter”, and only with it"),
        ({"speculation": "drafter"}, "speculation is drafter"),
        ({"shape": {"confidence": 0.2}}, "the confidence is the embedded engine's own"),
        ({"port": 70000}, "a port is at most 65535"),
        ({"host": "a b"}, "write an address or a name"),
        ({"host": "x;rm"}, "write an address or a name"),
        ({"tensor_parallel": 3, "devices": ["cuda:0", "cuda:1"]}, "tensor parallel 3 does not divide 2 devices"),
        ({"memory_fraction": 1.2}, "memory fraction 1.2: above 0, and below 1"),
        ({"max_queued": 0}, "max queued 0: it is above 0, or left out"),
        ({"kv_cache_dtype": "int4"}, "'int4' is none of auto, bfloat16"),
        ({"extra": {"trust-remote-code": True}}, "--trust-remote-code is not among the extra arguments"),
        ({"drain_s": -1}, "drain_s is not below"),
        ({"restart": {"first_s": 9.0, "longest_s": 1.0}}, "the longest pause is not below the first"),
    ],
)
def test_what_makes_no_sense_is_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        from_mapping(ServeConfig, NEEDED | changes)
