from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pipeline.artifacts import read_json, write_json
from pipeline.errors import ConfigError, DataError
from pipeline.shards import ShardReader
from pipeline.training.config import CheckpointConfig
from pipeline.training.corpus import open_corpus
from pipeline.training.drafting import Start, prepare
from tests.support.tiny_model import VOCAB_SIZE
from tests.support.tiny_training import answers, store, tiny_config, train

CPU = torch.device("cpu")


def begun(root: Path, **changes: Any) -> Start:
    config = tiny_config(root, **changes)
    corpus = open_corpus(ShardReader(Path(config.hidden[0])), held_out_share=0.2)
    return prepare(config, corpus, device=CPU, precision=torch.float32, resume=None)


def checkpoint(root: Path) -> Path:
    train(tiny_config(root, max_steps=2), root / "attempt")
    return root / "checkpoints" / "step-000002"


def continued(root: Path, folder: Path, **changes: Any) -> Start:
    return begun(root, saving=CheckpointConfig(continue_from=str(folder)), **changes)


def test_vocabulary_holds_the_tokens_that_were_generated_most(made: Path) -> None:
    start = begun(made)
    counts = open_corpus(ShardReader(made / "hidden"), held_out_share=0.2).counts
    assert start.coverage == int(counts.sort(descending=True).values[:64].sum()) / int(counts.sum())
    assert start.held_out_coverage is not None


def test_vocabulary_may_be_the_targets_own(made: Path) -> None:
    assert begun(made, draft_vocab_size=VOCAB_SIZE).coverage == 1.0


def test_larger_vocabulary_than_the_targets_is_refused(made: Path) -> None:
    with pytest.raises(ConfigError, match="301"):
        begun(made, draft_vocab_size=VOCAB_SIZE + 1)


def test_identity_mapping_of_a_part_is_refused(root: Path) -> None:
    documents = [replace(one, token_ids=one.token_ids % 8) for one in answers(root / "target", 8)]
    store(root / "low", root / "target", documents)
    with pytest.raises(ConfigError, match="identity mapping of 8 out of 300"):
        begun(root, hidden=(str(root / "low"),), draft_vocab_size=8)


def test_continued_checkpoint_keeps_its_vocabulary_and_weights(root: Path) -> None:
    folder = checkpoint(root)
    fresh, start = begun(root, draft_vocab_size=32), continued(root, folder, draft_vocab_size=32)
    assert len(fresh.drafter.d2t) == 32
    assert len(start.drafter.d2t) == 64
    assert start.origin == "checkpoint step-000002"


def test_checkpoint_of_another_target_is_refused(root: Path) -> None:
    folder = checkpoint(root)
    manifest = read_json(folder / "manifest.json")
    manifest["lineage"]["target"] = "other@0123456789ab"
    write_json(folder / "manifest.json", manifest)
    with pytest.raises(
        DataError, match=r"step-000002: a drafter for other@0123456789ab; the hidden states are those of target@"
    ):
        continued(root, folder)


def test_checkpoint_for_other_feature_layers_is_refused(root: Path) -> None:
    folder = checkpoint(root)
    config = read_json(folder / "config.json")
    config["eagle_config"]["eagle_aux_hidden_state_layer_ids"] = [0, 1, 2]
    write_json(folder / "config.json", config)
    with pytest.raises(DataError, match=r"for feature layers \[1, 2, 3\]; the hidden states are those of layers \[2, 3, 4\]"):
        continued(root, folder)


def test_vocabulary_that_holds_none_of_the_tokens_is_refused(root: Path) -> None:
    folder = checkpoint(root)
    kept = set(continued(root, folder).drafter.vocabulary.token_ids.tolist())
    outside = torch.tensor([token for token in range(3, VOCAB_SIZE) if token not in kept])
    documents = [replace(one, token_ids=outside[one.token_ids % len(outside)]) for one in answers(root / "target", 8)]
    store(root / "others", root / "target", documents)
    with pytest.raises(DataError, match="holds none of the supervised tokens"):
        continued(root, folder, hidden=(str(root / "others"),))


def test_states_of_another_size_than_the_targets_are_refused(root: Path) -> None:
    store(root / "wide", root / "target", answers(root / "target", 4), vocab_size=VOCAB_SIZE + 5)
    with pytest.raises(DataError, match=r"its embedding is \[300, 32\], the hidden states belong to one of \[305, 32\]"):
        begun(root, hidden=(str(root / "wide"),))
