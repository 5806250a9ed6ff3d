import argparse
import json
from pathlib import Path

import pytest

from pipeline.benchmark.flags import add_arguments, config_of, make_attempt, numbers
from pipeline.config import EngineRef, SamplingConfig
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


@pytest.fixture
def needed(tmp_path: Path) -> list[str]:
    (tmp_path / "my prompts.jsonl").write_text(json.dumps({"prompt": "hello"}) + "\n")
    return ["--target", "models/t", "--prompts", str(tmp_path / "my prompts.jsonl"), "--out", str(tmp_path / "out")]


def test_flags_become_a_config(needed: list[str], tmp_path: Path) -> None:
    config = config_of(
        parsed(
            *needed,
            *("--drafter", "ckpt/step-000100", "--prompts-per-dataset", "4", "--held-out-share", "0.2"),
            *("--shape", "3/1/4", "4/4/12", "--concurrency", "1,4", "--repetitions", "5", "--warmup-prompts", "0"),
            *("--max-new-tokens", "64", "--temperature", "0.5", "--ignore-eos", "--seed", "3", "--thinking", "off"),
            *("--dtype", "bfloat16", "--device", "cpu"),
        )
    )
    (prompts,) = config.prompts
    assert (prompts.dataset, Path(prompts.prompts).name) == ("my_prompts", "prompts.jsonl")
    assert config.shapes == (DraftShape(), DraftShape(steps=4, topk=4, draft_tokens=12))
    assert config.sampling == SamplingConfig(temperature=0.5, max_new_tokens=64, ignore_eos=True, seed=3)
    assert (config.concurrency, config.repetitions, config.prompts_per_dataset, config.held_out_share) == ((1, 4), 5, 4, 0.2)
    assert (config.drafter, config.dtype, config.device, config.seed) == ("ckpt/step-000100", "bfloat16", "cpu", 3)
    assert config.chat_template_kwargs == {"enable_thinking": False}
    assert (config.project, config.output) == ("out", str(tmp_path / "out" / "output"))


def test_engines_that_run_already_are_named_by_mode(needed: list[str]) -> None:
    config = config_of(parsed(*needed, "--plain", "http://a", "--served-drafter", "http://c"))
    assert [(served.mode, served.engine) for served in config.served] == [
        ("plain", EngineRef(name="plain", url="http://a")),
        ("drafter", EngineRef(name="drafter", url="http://c")),
    ]


def test_benchmark_without_anything_to_measure_is_refused(needed: list[str]) -> None:
    with pytest.raises(ConfigError, match="name a checkpoint to measure, or engines that run already"):
        make_attempt(parsed(*needed))
    with pytest.raises(ConfigError, match="a speedup needs its baseline"):
        make_attempt(parsed(*needed, "--served-drafter", "http://c"))


def test_missing_flags_are_named() -> None:
    with pytest.raises(ConfigError, match="needs --target, --prompts"):
        make_attempt(parsed())


def test_concurrency_is_a_list_of_numbers() -> None:
    assert numbers("1,16") == (1, 16)


def test_senseless_concurrency_is_refused() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="is not a list of numbers"):
        numbers("1;4")
