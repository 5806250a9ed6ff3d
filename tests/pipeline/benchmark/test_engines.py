import sys
from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.benchmark.config import BenchmarkConfig, PromptSet, ServedMode
from pipeline.benchmark.contenders import Contender, embedded_contenders
from pipeline.benchmark.engines import Engines, engine_command, pick_device
from pipeline.config import EngineRef
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError
from tests.support.servers import stub_engine
from tests.support.stub_engine import Behaviour

PROMPTS = (PromptSet(dataset="B1", revision="r", prompts="p"),)
EMBEDDED = BenchmarkConfig(
    project="p",
    output="o",
    target="models/t",
    drafter="ckpt/d",
    prompts=PROMPTS,
    concurrency=(1, 8),
    shapes=(DraftShape(steps=4, topk=2, draft_tokens=6),),
)


def served(**urls: str) -> BenchmarkConfig:
    modes = [ServedMode(mode=mode, engine=EngineRef(name=mode, url=url)) for mode, url in urls.items()]  # type: ignore[arg-type]
    return BenchmarkConfig(project="p", output="o", target="t", drafter="d", prompts=PROMPTS, served=tuple(modes))


def test_commands_differ_in_how_they_draft_alone() -> None:
    commands = [engine_command(EMBEDDED, contender, "cpu") for contender in embedded_contenders(EMBEDDED)]
    shared = [sys.executable, "-m", "pipeline", "engine", "--model", "models/t", "--port", "0", "--dtype", "float32"]
    shared += ["--device", "cpu", "--max-running", "8"]
    assert [command[: len(shared)] for command in commands] == [shared] * 3
    assert [command[len(shared) :] for command in commands] == [
        [],
        ["--draft", "lookup", "--draft-steps", "4", "--draft-topk", "1", "--draft-tokens", "5"],
        ["--draft-model", "ckpt/d", "--draft-steps", "4", "--draft-topk", "2", "--draft-tokens", "6"],
    ]


def test_a_confidence_is_for_the_drafter() -> None:
    config = replace(EMBEDDED, shapes=(DraftShape(confidence=0.25),))
    with_drafts = [engine_command(config, contender, "cpu")[-2:] for contender in embedded_contenders(config)[1:]]
    assert with_drafts == [["--draft-tokens", "4"], ["--draft-confidence", "0.25"]]


def test_device_is_kept_unless_it_is_to_be_found() -> None:
    assert pick_device("cuda") == "cuda"
    assert pick_device("auto") in ("cpu", "cuda")


async def test_served_engines_say_how_far_they_look(tmp_path: Path) -> None:
    doing: list[str] = []
    with stub_engine(Behaviour(context_length=900)) as (_, plain), stub_engine(Behaviour(draft_steps=5)) as (_, drafter):
        engines = Engines(served(plain=plain, drafter=drafter), tmp_path, doing=doing.append)
        try:
            await engines.start()
            shape = DraftShape(steps=5, topk=1, draft_tokens=6)
            assert engines.contenders == [Contender(mode="plain"), Contender(mode="drafter", shape=shape)]
            assert engines.context_length == 900
            assert engines.of(engines.contenders[1]).told == {
                "model_path": "stub",
                "version": "stub",
                "speculative_algorithm": "EAGLE3",
                "speculative_num_steps": 5,
                "speculative_eagle_topk": 1,
                "speculative_num_draft_tokens": 6,
                "url": drafter,
            }
            assert await engines.all[0].flush()
        finally:
            await engines.close()
    assert doing == [f"waiting for plain at {plain}", f"waiting for drafter at {drafter}"]


async def test_two_engines_for_one_way_are_refused(tmp_path: Path) -> None:
    with stub_engine() as (_, url):
        config = served(plain=url)
        engines = Engines(BenchmarkConfig(**vars(config) | {"served": config.served * 2}), tmp_path, doing=lambda _text: None)
        try:
            with pytest.raises(ConfigError, match="two engines decode in the same way, which one is meant\\? plain"):
                await engines.start()
        finally:
            await engines.close()


async def test_protocol_without_counts_is_refused(tmp_path: Path) -> None:
    ref = EngineRef(name="e", url="http://127.0.0.1:9", protocol="openai")
    config = BenchmarkConfig(**vars(served()) | {"served": (ServedMode(mode="plain", engine=ref),)})
    engines = Engines(config, tmp_path, doing=lambda _text: None)
    with pytest.raises(ConfigError, match="e: only SGLang's own protocol tells"):
        await engines.start()
