import argparse
from pathlib import Path

import pytest

from pipeline.artifacts import read_json
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from pipeline.serve.flags import add_arguments, config_of, make_attempt


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


def test_flags_become_a_config(tmp_path: Path) -> None:
    config = config_of(
        parsed(
            *("--target", "m", "--drafter", "ckpt", "--shape", "4/2/9", "--port", "0", "--tensor-parallel", "8"),
            *("--memory-fraction", "0.8", "--max-queued", "64", "--hierarchical-cache", "--restart", "never"),
            *("--extra", "--page-size 16", "--drain-seconds", "5", "--out", str(tmp_path / "night")),
        )
    )
    assert (config.target, config.drafter, config.speculation, config.project) == ("m", "ckpt", "drafter", "night")
    assert config.shape == DraftShape(steps=4, topk=2, draft_tokens=9)
    assert (config.port, config.tensor_parallel, config.memory_fraction, config.max_queued) == (0, 8, 0.8, 64)
    assert (config.hierarchical_cache, config.restart.when, config.drain_s) == (True, "never", 5.0)
    assert config.extra == {"page-size": 16}


def test_each_call_is_an_attempt_of_its_own(tmp_path: Path) -> None:
    args = parsed("--target", "m", "--lookup", "--out", str(tmp_path))
    first, second = make_attempt(args), make_attempt(args)
    assert (first.path.name, second.path.name) == ("1", "2")
    assert read_json(first.config)["speculation"] == "lookup"


def test_flags_that_make_no_run_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="needs --target"):
        make_attempt(parsed())
    with pytest.raises(ConfigError, match="a server drafts in one way"):
        make_attempt(parsed("--target", "m", "--drafter", "c", "--lookup", "--out", str(tmp_path)))
