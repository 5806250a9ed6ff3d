"""Hidden states that the engine keeps, beside those that a target finds when it reads the same answers again."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import torch

from pipeline.artifacts import read_json
from pipeline.batching import Document
from pipeline.datasets.conversation import new_conversation
from pipeline.errors import FolderHeldError
from pipeline.extraction.sources import open_source
from pipeline.extraction.target import load_target
from pipeline.responses.reading import iter_records
from pipeline.serving.embedded.app import create_app
from pipeline.serving.embedded.capture import Capture
from pipeline.serving.embedded.engine import Engine
from pipeline.serving.embedded.loading import LoadOptions, load
from pipeline.shards import ShardReader
from pipeline.target_layout import target_layout
from pipeline.training.config import TrainConfig
from tests.support.disks import small_disk
from tests.support.extraction import tiny_target
from tests.support.generation import generate_run
from tests.support.servers import serving, wait_until

SAMPLING = {"temperature": 0.0, "max_new_tokens": 20, "ignore_eos": True}


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_target(tmp_path_factory.mktemp("capture"))


@contextmanager
def engine(target: Path, folder: Path, **changes: Any) -> Iterator[str]:
    """An engine that captures to `folder`, in this process."""
    options = LoadOptions(model=target, dtype="float32", device="cpu", threads=1, slots=4, context_length=None)
    capture = Capture(folder, target, storage_dtype="float32", **changes)
    with serving(create_app(Engine(lambda: load(options), max_running=4, capture=capture)), lifespan="on") as url:
        yield url


class Caller:
    """Asks like a generation run, several prompts at once."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def __aenter__(self) -> "Caller":
        self._session = aiohttp.ClientSession()
        while (await self._session.get(self._url + "/health")).status != 200:
            pass
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def answer(self, n: int, *, name: str | None = None, **sampling: Any) -> list[int]:
        """The output ids for a prompt of its own."""
        body: dict[str, Any] = {"input_ids": list(range(10 + n, 15 + 2 * n)), "sampling_params": SAMPLING | sampling}
        if name is not None:
            body["capture"] = {"dataset": "B1", "name": name}
        answered = await self.post("/generate", body)
        ids: list[int] = answered["output_ids"]
        return ids

    async def post(self, path: str, body: Any = None) -> Any:  # noqa: ANN401  (any JSON value)
        async with self._session.post(self._url + path, json=body) as response:
            assert response.status == 200, await response.text()
            return await response.json()

    async def capture_status(self) -> Any:  # noqa: ANN401  (any JSON value)
        async with self._session.get(self._url + "/server_info") as response:
            return (await response.json())["capture"]


def extracted(target: Path, documents: list[Document]) -> list[Document]:
    """The same documents as extraction makes them; without their last row, which an engine does not have."""
    layout = target_layout(target, dtype="float32")
    read = load_target(target, layout, max_length=256, device="cpu").read([document.token_ids for document in documents])
    return [
        Document(
            token_ids=document.token_ids[:-1],
            loss_mask=document.loss_mask[:-1],
            features=states.features[:-1],
            last_hidden=states.last_hidden[:-1],
        )
        for document, states in zip(documents, read, strict=True)
    ]


async def test_captured_documents_equal_extracted_ones(tmp_path: Path, target: Path) -> None:
    with engine(target, tmp_path / "hidden") as url:
        async with Caller(url) as caller:
            answers = {f"p{n}": await caller.answer(n, name=f"p{n}") for n in range(5)}
            await caller.answer(9)
            told = await caller.post("/flush_capture")
    assert told == {"folder": str(tmp_path / "hidden"), "documents": 5, "off": None}
    reader = ShardReader(tmp_path / "hidden")
    assert reader.layout == target_layout(target, dtype="float32")
    found = reader.load(range(5))
    assert {one.name: one.token_ids[one.loss_mask].tolist() for one in found} == answers
    for one, other in zip(found, extracted(target, found), strict=True):
        torch.testing.assert_close(one.features[:-1], other.features, rtol=1e-4, atol=1e-4)
        torch.testing.assert_close(one.last_hidden[:-1], other.last_hidden, rtol=1e-4, atol=1e-4)
        assert one.argmax is not None
        assert torch.equal(one.argmax[:-1][one.loss_mask[1:]], one.token_ids[1:][one.loss_mask[1:]])
    assert [document.agreed for document in reader.documents] == [20] * 5


async def test_sampled_answers_leave_the_most_likely_token_to_the_teacher(tmp_path: Path, target: Path) -> None:
    with engine(target, tmp_path) as url:
        async with Caller(url) as caller:
            await caller.answer(1, name="p1", temperature=1.0, sampling_seed=3)
    (document,) = ShardReader(tmp_path).load([0])
    assert document.argmax is None
    assert document.name == "p1"


async def test_answer_that_is_made_again_is_kept_once(tmp_path: Path, target: Path) -> None:
    with engine(target, tmp_path) as url:
        async with Caller(url) as caller:
            first = await caller.answer(1, name="p1")
            await caller.answer(1, name="p1", temperature=1.0)
    with engine(target, tmp_path) as url:
        async with Caller(url) as caller:
            await caller.answer(1, name="p1")
            await caller.answer(2, name="p2")
    reader = ShardReader(tmp_path)
    assert [document.name for document in reader.documents] == ["p1", "p2"]
    assert reader[0].token_ids[reader[0].loss_mask].tolist() == first


@pytest.mark.slow
async def test_full_disk_ends_the_capture_and_no_answer(tmp_path: Path, target: Path) -> None:
    with small_disk(tmp_path / "small") as disk, engine(target, disk.path / "hidden", shard_bytes=1 << 16) as url:
        async with Caller(url) as caller:
            answers = [await caller.answer(n % 8, name=f"p{n}", max_new_tokens=180) for n in range(24)]
            told = await caller.post("/flush_capture")
            again = await caller.answer(3, name="late", max_new_tokens=180)
        assert again == answers[3]
        assert "disk full while writing shard-" in told["off"]
        reader = ShardReader(disk.path / "hidden")
        assert 0 < len(reader) == told["documents"] < 24


async def test_folder_that_is_captured_to_is_held(tmp_path: Path, target: Path) -> None:
    with engine(target, tmp_path) as url:
        async with Caller(url) as caller:
            assert await caller.capture_status() == {"folder": str(tmp_path), "documents": 0, "off": None}
        with pytest.raises(FolderHeldError, match="is being written by process"):
            Capture(tmp_path, target, storage_dtype="float32")


@pytest.mark.slow
def test_generation_run_leaves_a_document_for_each_answer(tmp_path: Path, target: Path) -> None:
    hidden = tmp_path / "hidden"
    ready = tmp_path / "ready.json"
    command = [sys.executable, "-m", "pipeline", "engine", "--model", str(target), "--port", "0", "--threads", "1"]
    process = subprocess.Popen([*command, "--capture", str(hidden), "--ready-file", str(ready)], stdout=subprocess.DEVNULL)
    try:
        wait_until(ready.exists, "the engine is ready", 60)
        with generate_run(tmp_path / "run", read_json(ready)["url"]) as run:
            prompts = [new_conversation(label=f"row {n}", input_ids=tuple(range(5, 8 + n))) for n in range(12)]
            run.add("B1", prompts, max_new_tokens=24)
            run.finish()
        # Written at the end of the run: the engine still lives.
        config = TrainConfig(project="p", target=str(target), checkpoints="c", hidden=(str(hidden),))
        source = open_source(config, torch.device("cpu"))
        answers = {record.key: record for record in iter_records(run.responses / "B1")}
        assert sorted(entry.name for entry in source.documents) == sorted(answers)
        for document in source.load(range(12)):
            record = answers[document.name]
            assert tuple(document.token_ids.tolist()) == record.prompt_ids + record.output_ids
            assert int(document.loss_mask.sum()) == len(record.output_ids)
        assert source.layout.dtype == "bfloat16"
    finally:
        process.terminate()
        process.wait(30)
