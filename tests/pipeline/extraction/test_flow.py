"""The stage over a tiny target: what it leaves on disk, and what it says."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from pipeline.artifacts import read_json
from pipeline.events import Line
from pipeline.exclusions import Exclusions
from pipeline.extraction.config import ExtractConfig
from pipeline.extraction.target import load_target
from pipeline.folder_lock import FolderLock
from pipeline.responses.manifest import MANIFEST
from pipeline.shards import ShardReader
from pipeline.target_layout import target_layout
from tests.support.disks import small_disk
from tests.support.extraction import extract_config, random_answer, store_answers, tiny_target
from tests.support.stages import run_extraction

GREEDY = {"temperature": 0.0, "top_k": -1}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_target(tmp_path_factory.mktemp("target"))


def prepared(root: Path, target: Path, count: int = 30, **changes: object) -> ExtractConfig:
    store_answers(root, [random_answer(n) for n in range(count)])
    return extract_config(root, **{"target": str(target)} | changes)


def said(lines: list[Line], kind: str) -> list[Line]:
    return [line for line in lines if line.kind == kind]


@pytest.mark.slow
def test_every_answer_becomes_a_document_with_the_states_of_its_target(tmp_path: Path, target: Path) -> None:
    config = prepared(tmp_path, target, shard_bytes=1 << 17)
    lines = run_extraction(tmp_path, config)
    layout = target_layout(target, dtype="float32")
    reader = ShardReader(tmp_path / "hidden")
    assert reader.layout == layout
    assert len(reader) == 30
    plain = load_target(target, layout, max_length=256, device="cpu")
    for document in reader.load(range(30)):
        record = random_answer(int(document.name, 16))
        assert tuple(document.token_ids.tolist()) == record.prompt_ids + record.output_ids
        (states,) = plain.read([document.token_ids])
        assert torch.equal(document.features, states.features)
        assert torch.equal(document.last_hidden, states.last_hidden)
        assert document.argmax is not None
        before = document.loss_mask[1:]
        assert torch.equal(document.argmax[:-1][before], plain.best_tokens(states.last_hidden[:-1][before]))
    shards = said(lines, "shard_written")
    assert len(shards) == len(list((tmp_path / "hidden").glob("shard-*.safetensors"))) > 1
    assert sum(line.payload["documents"] for line in shards) == 30
    last = said(lines, "extraction_progress")[-1].payload
    assert (last["documents"], last["total"], last["tokens"]) == (30, 30, last["total_tokens"])
    assert last["bytes"] == last["total_bytes"] == last["tokens"] * layout.bytes_per_token


def test_manifest_names_inputs_layers_norm_dtype_and_bytes(tmp_path: Path, target: Path) -> None:
    run_extraction(tmp_path, prepared(tmp_path, target, 4))
    manifest = read_json(tmp_path / "hidden" / "manifest.json")
    assert sorted(manifest["inputs"]) == ["responses/B1", "target"]
    assert manifest["feature_layers"] == {"hidden_states": [2, 3, 4], "sglang": [1, 2, 3]}
    assert (manifest["last_hidden"], manifest["dtype"], manifest["documents"]) == ("post_norm", "float32", 4)
    assert manifest["bytes"] == sum(path.stat().st_size for path in (tmp_path / "hidden").glob("*.safetensors"))


@pytest.mark.slow
def test_second_attempt_reads_only_what_is_new(tmp_path: Path, target: Path) -> None:
    config = prepared(tmp_path, target, 6)
    run_extraction(tmp_path, config)
    store_answers(tmp_path, [random_answer(n) for n in range(6, 9)])
    lines = run_extraction(tmp_path, config)
    assert [line.payload["documents"] for line in said(lines, "shard_written")] == [3]
    assert said(lines, "extraction_progress")[0].payload["documents"] == 6
    names = [document.name for document in ShardReader(tmp_path / "hidden").documents]
    assert sorted(names) == [f"{n:016x}" for n in range(9)]
    again = run_extraction(tmp_path, config)
    assert said(again, "shard_written") == said(again, "status_changed") == []


def test_sample_with_bad_states_is_named_and_the_rest_goes_on(tmp_path: Path, target: Path) -> None:
    broken = tmp_path / "target"
    broken.mkdir()
    for file in target.iterdir():
        (broken / file.name).write_bytes(file.read_bytes())
    weights = load_file(target / "model.safetensors")
    weights["model.embed_tokens.weight"][299] = torch.nan
    save_file(weights, broken / "model.safetensors", metadata={"format": "pt"})
    store_answers(tmp_path, [random_answer(1, output_ids=(5, 6)), random_answer(2, output_ids=(5, 299, 6))])
    store_answers(tmp_path, [random_answer(3, prompt_ids=(7, 8, 9), output_ids=(5, 6, 7))])
    lines = run_extraction(tmp_path, extract_config(tmp_path))
    (warning,) = said(lines, "warning")
    assert (
        f"prompt {2:016x}: B1/{2:016x}: features are NaN or infinite as float32, first at position" in warning.payload["text"]
    )
    assert said(lines, "stage_finished")[0].payload["summary"]["skipped"] == 1
    assert sorted(document.name for document in ShardReader(tmp_path / "hidden").documents) == [f"{1:016x}", f"{3:016x}"]


def greedy(root: Path, target: Path, count: int) -> None:
    """Answers that the target itself would give, and a manifest that says so."""
    layout = target_layout(target, dtype="float32")
    model = load_target(target, layout, max_length=256, device="cpu")
    answers = []
    for n in range(count):
        record = random_answer(n)
        ids = list(record.prompt_ids)
        for _ in range(8):
            ids.append(int(model.best_tokens(model.read([torch.tensor(ids)])[0].last_hidden[-1:])))
        answers.append(replace(record, output_ids=tuple(ids[len(record.prompt_ids) :]), completion_tokens=8))
    store_answers(root, answers)
    tell_greedy(root)


def tell_greedy(root: Path) -> None:
    scope = {"revision": "rev1", "sampling": "greedy00", "way": GREEDY}
    (root / "responses" / "B1" / MANIFEST).write_text(f'{{"scopes": [{str(scope).replace(chr(39), chr(34))}]}}')


@pytest.mark.slow
def test_greedy_answers_of_this_target_are_given_back_by_its_states(tmp_path: Path, target: Path) -> None:
    greedy(tmp_path, target, 5)
    lines = run_extraction(tmp_path, extract_config(tmp_path, target=str(target)))
    assert said(lines, "warning") == []
    assert said(lines, "stage_finished")[0].payload["summary"]["reproduced"] == {"B1": 1.0}
    assert read_json(tmp_path / "hidden" / "manifest.json")["agreed"] == 40


@pytest.mark.slow
def test_greedy_answers_of_another_target_are_warned_of(tmp_path: Path, target: Path) -> None:
    config = prepared(tmp_path, target, 5)
    tell_greedy(tmp_path)
    lines = run_extraction(tmp_path, config)
    (warning,) = said(lines, "warning")
    assert warning.payload["dataset"] == "B1"
    assert "of the generated tokens as the most likely ones, and the answers are greedy" in warning.payload["text"]


def test_extraction_that_does_not_fit_is_refused_before_it_starts(tmp_path: Path, target: Path) -> None:
    with small_disk(tmp_path / "small") as disk:
        if shutil.disk_usage(disk.path).free > 1 << 20:
            pytest.skip("a disk of its own cannot be mounted here")
        config = prepared(tmp_path, target, 60, hidden=str(disk.path / "hidden"))
        lines = run_extraction(tmp_path, config, code=1)
        assert list((disk.path / "hidden").glob("shard-*")) == []
    assert "Online training needs no disk" in said(lines, "stage_failed")[0].payload["reason"]
    assert said(lines, "status_changed") == []


def test_folder_that_another_process_writes_to_is_left_alone(tmp_path: Path, target: Path) -> None:
    config = prepared(tmp_path, target, 2)
    (tmp_path / "hidden").mkdir()
    lock = FolderLock(tmp_path / "hidden")
    try:
        lines = run_extraction(tmp_path, config, code=1)
    finally:
        lock.release()
    assert "is being written by process" in said(lines, "stage_failed")[0].payload["reason"]


def test_an_excluded_answer_is_not_in_the_shards(tmp_path: Path, target: Path) -> None:
    unwanted = Exclusions.of({"B1": [f"{1:016x}"]}, by=["ada"])
    lines = run_extraction(tmp_path, prepared(tmp_path, target, 4, exclusions=unwanted))
    names = {document.name for document in ShardReader(tmp_path / "hidden").documents}
    assert names == {f"{n:016x}" for n in (0, 2, 3)}
    summary = said(lines, "stage_finished")[-1].payload["summary"]
    assert (summary["documents"], summary["excluded"], summary["exclusion_list"]) == (3, 1, unwanted.hash)
    assert [line.payload["text"] for line in said(lines, "warning")] == [f"1 answer excluded by ada (list {unwanted.hash})"]
