"""The client's side of states that an SGLang server leaves; the real server is in tests/sglang/test_states.py."""

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from pipeline.errors import AbortedError, ConfigError, DataError, EngineError, EngineUnavailableError, InterruptedRunError
from pipeline.extraction.sglang_target import SglangTarget
from pipeline.shard_layout import Layout
from pipeline.target_layout import target_layout
from tests.support.extraction import tiny_target

Answer = Callable[[dict[str, Any]], tuple[int, Any]]


class Server:
    """Answers /generate as a test says."""

    def __init__(self) -> None:
        self.answer: Answer = lambda body: (200, [finished() for _ in body["rid"]])
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, said = outer.answer(body)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(said).encode())

            def log_message(self, *_args: object) -> None:
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def finished(kind: str = "length") -> dict[str, Any]:
    return {"output_ids": [1], "meta_info": {"finish_reason": {"type": kind}}}


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_target(tmp_path_factory.mktemp("target"))


@pytest.fixture
def layout(target: Path) -> Layout:
    return target_layout(target, dtype="float32")


def leaving(folder: Path, layout: Layout, *, more: int = 0) -> Answer:
    """Rows of ones and twos for each prompt, `more` of them than it has tokens."""

    def answer(body: dict[str, Any]) -> tuple[int, Any]:
        for name, ids in zip(body["rid"], body["input_ids"], strict=True):
            rows, width = len(ids) + more, layout.hidden_size
            states = {
                "features": torch.ones(rows, 3 * width),
                "last_hidden": torch.arange(1.0, rows + 1)[:, None].expand(-1, width),
            }
            save_file({kind: tensor.contiguous() for kind, tensor in states.items()}, folder / f"{name}.safetensors")
        return 200, [finished() for _ in body["rid"]]

    return answer


def test_rows_of_each_prompt_are_taken_and_the_files_are_gone(
    server: Server, target: Path, layout: Layout, tmp_path: Path
) -> None:
    server.answer = leaving(tmp_path, layout)
    reader = SglangTarget(server.url, tmp_path, target=target, layout=layout)
    first, second = reader.read([torch.arange(3), torch.arange(5)])
    assert (first.features.shape, second.last_hidden.shape) == ((3, 3 * layout.hidden_size), (5, layout.hidden_size))
    assert (float(first.features.mean()), second.last_hidden[:, 0].tolist()) == (1.0, [1.0, 2.0, 3.0, 4.0, 5.0])
    assert list(tmp_path.iterdir()) == []


def test_server_that_leaves_nothing_or_something_else_is_explained(
    server: Server, target: Path, layout: Layout, tmp_path: Path
) -> None:
    reader = SglangTarget(server.url, tmp_path, target=target, layout=layout)
    with pytest.raises(ConfigError, match=r"left no hidden states in .*serve --states FOLDER"):
        reader.read([torch.arange(3)])
    server.answer = leaving(tmp_path, layout, more=-1)
    with pytest.raises(DataError, match=r"states of 3 tokens are .*, not 3 layers of"):
        reader.read([torch.arange(3)])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("answer", "kind", "words"),
    [
        ((503, {"message": "The request queue is full."}), EngineError, "503 .*queue is full"),
        ((200, [finished("abort")]), AbortedError, "gave up a request"),
    ],
)
def test_refusals_are_told(
    server: Server, target: Path, layout: Layout, tmp_path: Path, answer: tuple[int, Any], kind: type[Exception], words: str
) -> None:
    server.answer = lambda body: answer
    with pytest.raises(kind, match=words):
        SglangTarget(server.url, tmp_path, target=target, layout=layout).read([torch.arange(3)])


def test_address_that_is_none_and_server_that_is_away_are_named(target: Path, layout: Layout, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="write http://HOST:PORT"):
        SglangTarget("gpu-01:30000", tmp_path, target=target, layout=layout)
    with pytest.raises(EngineUnavailableError, match=r"http://127\.0\.0\.1:9/generate: .*refused"):
        SglangTarget("http://127.0.0.1:9", tmp_path, target=target, layout=layout).read([torch.arange(3)])


def test_prompts_are_not_sent_to_an_address_that_no_engine_has(
    server: Server, target: Path, layout: Layout, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def refuse(address: str) -> bool:
        asked.append(address)
        return True

    monkeypatch.setattr("pipeline.extraction.sglang_target.is_no_engine", refuse)
    with pytest.raises(EngineUnavailableError, match="no address of an engine"):
        SglangTarget(server.url, tmp_path, target=target, layout=layout).read([torch.arange(3)])
    assert asked == ["127.0.0.1"]


def test_waiting_can_be_ended(server: Server, target: Path, layout: Layout, tmp_path: Path) -> None:
    def stop() -> None:
        raise InterruptedRunError("stopped")

    reader = SglangTarget(server.url, tmp_path, target=target, layout=layout)
    reader.on_layer = stop
    with pytest.raises(InterruptedRunError):
        reader.read([torch.arange(3)])
