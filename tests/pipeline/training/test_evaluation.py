from pathlib import Path

import pytest
import torch

from pipeline.acceptance import simulate
from pipeline.loss import TrainingTimeTest
from pipeline.shards import ShardReader
from pipeline.training.config import EvalConfig
from pipeline.training.corpus import open_corpus
from pipeline.training.drafting import prepare
from pipeline.training.evaluation import Evaluator, count_chains
from pipeline.training.parallel import World
from pipeline.training.stepping import TrainingModule
from tests.support.tiny_training import tiny_config

CPU = torch.device("cpu")


def test_chains_are_counted_as_the_plain_count_does() -> None:
    generator = torch.Generator().manual_seed(3)
    correct = torch.rand(4, 50, generator=generator) < 0.6
    supervised = torch.rand(4, 50, generator=generator) < 0.9
    expected = simulate(correct.tolist(), supervised.tolist())
    starts, survivors, hits, rows = count_chains(correct, supervised, drafts=4).tolist()
    assert starts[0] == expected.starts
    assert tuple(map(int, survivors)) == expected.survivors
    assert (tuple(map(int, hits)), tuple(map(int, rows))) == (expected.hits, expected.rows)


def test_chains_end_after_the_drafts_of_a_verification() -> None:
    correct = torch.ones(4, 10, dtype=torch.bool)
    assert count_chains(correct, correct, drafts=2)[1].tolist() == [10, 10, 0, 0]


@pytest.mark.parametrize("batch", [1, 1000])
def test_measure_does_not_depend_on_batches_and_adds_up_over_datasets(made: Path, batch: int) -> None:
    config = tiny_config(made, evaluation=EvalConfig(held_out_share=0.4, draft_steps=2), tokens_per_batch=batch)
    corpus = open_corpus(ShardReader(made / "hidden"), held_out_share=0.4)
    start = prepare(config, corpus, device=CPU, precision=torch.float32, resume=None)
    world = World(rank=0, size=1, device=CPU)
    evaluator = Evaluator(config, corpus, start.teacher, world, precision=torch.float32)
    beats: list[int] = []
    found = evaluator.measure(TrainingModule(TrainingTimeTest(start.drafter, start.teacher)), lambda: beats.append(1))
    assert found.documents == len(corpus.held_out)
    assert len(beats) == (len(corpus.held_out) if batch == 1 else 1)
    first, second = found.datasets.values()
    assert first + second == found.acceptance
    assert found.loss == pytest.approx(LOSS, rel=1e-4)


LOSS = 13.046525
