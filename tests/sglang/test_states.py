"""Hidden states that a real SGLang server leaves, against those that transformers computes."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from pipeline.extraction.sglang_target import SglangTarget
from pipeline.extraction.target import load_target
from pipeline.shards import ShardReader
from pipeline.target_layout import target_layout
from tests.support.extraction import extract_config, random_answer, store_answers
from tests.support.serve import START_S, serve_run
from tests.support.stages import run_extraction

pytestmark = pytest.mark.sglang


@pytest.fixture(scope="module")
def server(files: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """Its address, and the folder in which it leaves states."""
    root = tmp_path_factory.mktemp("states")
    config = {"target": str(files / "target"), "states": str(root / "states"), "drain_s": 5.0}
    with serve_run(root / "run", **config) as run:
        ready = run.start().wait_for("server_ready", timeout_s=START_S)
        yield str(ready.payload["url"]), root / "states"


def test_states_are_those_of_transformers(server: tuple[str, Path], files: Path) -> None:
    url, states = server
    layout = target_layout(files / "target", dtype="float32")
    plain = load_target(files / "target", layout, max_length=256, device="cpu")
    theirs = SglangTarget(url, states, target=files / "target", layout=layout)
    documents = [torch.randint(3, 40, (length,), generator=torch.Generator().manual_seed(length)) for length in (1, 7, 40, 90)]
    for mine, found in zip(plain.read(documents), theirs.read(documents), strict=True):
        torch.testing.assert_close(found.features, mine.features, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(found.last_hidden, mine.last_hidden, rtol=1e-3, atol=1e-4)
        assert torch.equal(theirs.best_tokens(found.last_hidden), plain.best_tokens(mine.last_hidden))
    assert list(states.iterdir()) == []


def test_extraction_through_a_server_leaves_the_same_shards(server: tuple[str, Path], files: Path, tmp_path: Path) -> None:
    url, states = server
    store_answers(tmp_path, [random_answer(n) for n in range(12)])
    same = {"target": str(files / "target")}
    run_extraction(tmp_path, extract_config(tmp_path, **same))
    run_extraction(tmp_path, extract_config(tmp_path, **same, hidden=str(tmp_path / "other"), server=url, states=str(states)))
    mine, theirs = ShardReader(tmp_path / "hidden"), ShardReader(tmp_path / "other")
    assert theirs.layout == mine.layout
    found = {document.name: document for document in theirs.load(range(len(theirs)))}
    for document in mine.load(range(len(mine))):
        other = found.pop(document.name)
        assert torch.equal(other.token_ids, document.token_ids)
        torch.testing.assert_close(other.features, document.features, rtol=1e-3, atol=1e-4)
    assert found == {}
