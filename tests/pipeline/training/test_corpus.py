from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pipeline.errors import DataError
from pipeline.held_out import is_held_out
from pipeline.shards import ShardReader
from pipeline.training.corpus import Corpus, open_corpus
from tests.support.tiny_training import ANSWER, PROMPT, answers, store


def corpus(root: Path, share: float = 0.2) -> Corpus:
    return open_corpus(ShardReader(root / "hidden"), held_out_share=share)


def test_documents_are_split_by_their_names(made: Path) -> None:
    found = corpus(made)
    entries = ShardReader(made / "hidden").documents
    held_out = [n for n, entry in enumerate(entries) if is_held_out(entry.dataset, entry.name, share=0.2)]
    assert list(found.held_out) == held_out
    assert sorted([*found.train, *found.held_out]) == list(range(40))
    assert [length > 0 for length in found.lengths()] == [n not in held_out for n in range(40)]


def test_only_generated_tokens_of_the_training_split_are_counted(made: Path) -> None:
    found = corpus(made)
    assert int(found.counts.sum()) == len(found.train) * ANSWER
    assert int(found.held_out_counts.sum()) == len(found.held_out) * ANSWER
    ids, _ = found.source.ids_and_mask(found.train[0])
    assert bool((found.counts[ids[PROMPT:]] > 0).all())


def test_summary_counts_documents_and_tokens_by_dataset(made: Path) -> None:
    found = corpus(made, share=0.0)
    tokens = 20 * (PROMPT + ANSWER)
    assert found.summary() == [
        {"dataset": "B1_tiny", "documents": 20, "tokens": tokens},
        {"dataset": "B2_tiny", "documents": 20, "tokens": tokens},
    ]


def test_sample_takes_from_each_dataset_in_turn(made: Path) -> None:
    found = replace(corpus(made, share=0.6))
    datasets = [found.source.documents[index].dataset for index in found.sample(6)]
    assert (datasets.count("B1_tiny"), datasets.count("B2_tiny")) == (3, 3)
    assert found.sample(4) == found.sample(6)[:4]


def test_unlabelled_documents_are_left_out_and_counted(made: Path, tmp_path: Path) -> None:
    documents = answers(made / "target", 4)
    nothing = torch.zeros(PROMPT + ANSWER, dtype=torch.bool)
    early = nothing.clone()
    early[1] = True
    documents[1] = replace(documents[1], loss_mask=nothing)
    documents[2] = replace(documents[2], loss_mask=early)
    store(tmp_path / "hidden", made / "target", documents)
    found = corpus(tmp_path, share=0.0)
    assert (found.train, found.unlabelled) == ((0, 3), 2)


def test_data_without_any_label_is_refused(made: Path, tmp_path: Path) -> None:
    nothing = torch.zeros(PROMPT + ANSWER, dtype=torch.bool)
    masked = [replace(document, loss_mask=nothing) for document in answers(made / "target", 3)]
    store(tmp_path / "hidden", made / "target", masked)
    with pytest.raises(DataError, match="nothing to train on: of 3 documents 3 have no supervised token and 0 are held out"):
        corpus(tmp_path)
