from pathlib import Path
from typing import Any

import pytest
import torch

from pipeline.errors import DataError
from pipeline.exclusions import Exclusions
from pipeline.extraction.sources import open_source
from pipeline.training.config import TrainConfig
from tests.support.extraction import SETS, extract_config, random_answer, store_answers, tiny_target
from tests.support.stages import run_extraction

CPU = torch.device("cpu")


def config(root: Path, **changes: Any) -> TrainConfig:
    values: dict[str, Any] = {"project": "p", "target": str(root / "target"), "checkpoints": "c", "tokens_per_batch": 200}
    return TrainConfig(**values | changes)


def online(root: Path, **changes: Any) -> TrainConfig:
    return config(root, source="online", responses=str(root / "responses"), datasets=SETS, **changes)


@pytest.mark.slow
def test_online_documents_equal_stored_ones(tmp_path: Path) -> None:
    tiny_target(tmp_path)
    store_answers(tmp_path, [random_answer(n) for n in range(12)])
    run_extraction(tmp_path, extract_config(tmp_path))
    stored = open_source(config(tmp_path, hidden=(str(tmp_path / "hidden"),)), CPU)
    computed = open_source(online(tmp_path), CPU)
    assert computed.layout == stored.layout
    places = {entry.name: index for index, entry in enumerate(stored.documents)}
    order = [7, 0, 11, 3]
    expected = stored.load([places[computed.documents[index].name] for index in order])
    for index, one, other in zip(order, computed.load(order), expected, strict=True):
        assert (one.dataset, one.name) == (other.dataset, other.name)
        for name in ("token_ids", "loss_mask", "features", "last_hidden", "argmax"):
            assert torch.equal(getattr(one, name), getattr(other, name)), name
        ids, mask = computed.ids_and_mask(index)
        assert torch.equal(ids, one.token_ids)
        assert torch.equal(mask, one.loss_mask)


def test_inputs_are_answers_and_target_by_hash(tmp_path: Path) -> None:
    tiny_target(tmp_path)
    store_answers(tmp_path, [random_answer(1)])
    source = open_source(online(tmp_path), CPU)
    assert sorted(source.inputs()) == ["responses/B1", "target"]
    assert source.inputs()["target"] == source.layout.target


def test_no_usable_answer_is_an_error_and_each_is_named_in_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tiny_target(tmp_path)
    store_answers(tmp_path, [random_answer(1, output_ids=())])
    with pytest.raises(DataError, match="no usable answer of B1 with at most 4,096 tokens"):
        open_source(online(tmp_path), CPU)
    assert "part-00001.jsonl, line 1: answer to prompt 0000000000000001: no output_ids" in caplog.text


def test_excluded_answers_are_not_read_online(tmp_path: Path) -> None:
    tiny_target(tmp_path)
    store_answers(tmp_path, [random_answer(n) for n in range(4)])
    source = open_source(online(tmp_path, exclusions=Exclusions.of({"B1": [f"{2:016x}"]})), CPU)
    assert [entry.name for entry in source.documents] == [f"{n:016x}" for n in (0, 1, 3)]
    assert source.excluded == 1
