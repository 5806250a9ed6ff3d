import argparse
import json
from pathlib import Path

import pytest

from pipeline.config import EngineRef, SamplingConfig
from pipeline.datasets.revision import import_prompts
from pipeline.errors import ConfigError
from pipeline.generation.flags import add_arguments, config_of, make_attempt


def parsed(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(arguments)


def prompts(path: Path) -> str:
    path.write_text(json.dumps({"prompt": "hello"}) + "\n")
    return str(path)


def test_flags_become_a_config(tmp_path: Path) -> None:
    (tmp_path / "t.jinja").write_text("{{ messages }}")
    config = config_of(
        parsed(
            *("--prompts", prompts(tmp_path / "my prompts.v2.jsonl"), "--engine", "http://a", "http://b"),
            *("--protocol", "openai", "--model", "m", "--tokenizer", "tok", "--out", str(tmp_path / "out")),
            *("--token-budget", "500", "--max-samples", "7", "--concurrency", "3", "--order", "interleaved"),
            *("--temperature", "0.6", "--top-p", "0.9", "--max-new-tokens", "99", "--seed", "4"),
            *("--chat-template", str(tmp_path / "t.jinja"), "--thinking", "off", "--retry-errors"),
        )
    )
    (plan,) = config.datasets
    assert (plan.slug, plan.budget, plan.max_samples, plan.prompts_count) == ("my_prompts", 500, 7, 1)
    assert plan.sampling == SamplingConfig(temperature=0.6, top_p=0.9, max_new_tokens=99, seed=4)
    assert config.engines == (
        EngineRef(name="engine1", url="http://a", protocol="openai", model="m"),
        EngineRef(name="engine2", url="http://b", protocol="openai", model="m"),
    )
    assert (config.concurrency, config.order, config.retry_errors, config.project) == (3, "interleaved", True, "out")
    assert (config.chat_template, config.chat_template_kwargs) == ("{{ messages }}", {"enable_thinking": False})
    assert config.responses == str(tmp_path / "out" / "responses")


def test_imported_revision_keeps_its_name_and_place(tmp_path: Path) -> None:
    revision = import_prompts(Path(prompts(tmp_path / "p.jsonl")), home=tmp_path / "home", slug="B7")
    config = config_of(parsed("--prompts", str(revision.prompts), "--engine", "http://a", "--tokenizer", "t"))
    (plan,) = config.datasets
    assert (plan.slug, plan.revision, plan.prompts) == ("B7", revision.revision, str(revision.prompts))


def test_attempts_are_numbered(tmp_path: Path) -> None:
    args = parsed(
        *("--prompts", f"B1={prompts(tmp_path / 'p')}", "--engine", "http://a", "--tokenizer", "t"),
        *("--out", str(tmp_path / "out")),
    )
    assert [make_attempt(args).path.name for _ in range(2)] == ["1", "2"]
    assert json.loads((tmp_path / "out/attempts/2/config.json").read_text())["datasets"][0]["slug"] == "B1"


def test_missing_flags_are_named() -> None:
    with pytest.raises(ConfigError, match="needs --prompts, --engine, --tokenizer"):
        make_attempt(parsed())
