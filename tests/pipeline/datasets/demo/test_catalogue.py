from pathlib import Path

import pytest

from pipeline.datasets.conversation import read_prompts
from pipeline.datasets.demo.catalogue import demo_sources
from pipeline.datasets.demo.source import import_demo_source
from pipeline.tokens import PromptTokenizer
from tests.support.models import smollm2

pytestmark = pytest.mark.slow

COUNTS = {
    "B1_tools": 1239,
    "B2_code": 161,
    "B3_math": 270,
    "B4_gsm8k": 100,
    "B5_instruct": 540,
    "B6_chat": 590,
    "B7_writing": 69,
    "B8_reasoning": 2000,
}


def test_eight_datasets_of_real_prompts_import_whole_and_short(tmp_path: Path) -> None:
    tokenizer = PromptTokenizer.load(smollm2())
    counts = {}
    for source in demo_sources():
        made = import_demo_source(source, tmp_path)
        assert made.report.rejected == 0
        counts[made.slug] = made.count
        lengths = sorted(len(tokenizer.encode(prompt)) for prompt in read_prompts(made.prompts))
        assert lengths[len(lengths) * 9 // 10] <= 330
    assert counts == COUNTS


@pytest.mark.parametrize("slug", ["B1_tools", "B8_reasoning"])
def test_the_same_prompts_come_each_time(tmp_path: Path, slug: str) -> None:
    source = next(source for source in demo_sources() if source.slug == slug)
    first, second = import_demo_source(source, tmp_path), import_demo_source(source, tmp_path)
    assert first.revision == second.revision
    assert second.existed


def test_every_dataset_names_its_package_version_and_licence() -> None:
    for source in demo_sources():
        assert source.origin.package_version == source.version
        assert source.licence in ("Apache-2.0", "MIT")
        assert source.version in source.origin.source
