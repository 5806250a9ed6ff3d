"""A target that an SGLang server holds: for models that transformers cannot load, or not on these devices.

The server was started to leave hidden states (`python -m pipeline serve --states FOLDER`); it writes those of each prompt to
a file in a folder that both see, such as one in /dev/shm, and the answer to the request says that they are there.
"""

import http.client
import json
import uuid
from collections.abc import Callable, Sequence
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from pipeline.errors import AbortedError, ConfigError, DataError, EngineError, EngineUnavailableError
from pipeline.extraction.states import States
from pipeline.lean_ops import argmax
from pipeline.serving.addresses import is_no_engine
from pipeline.shard_layout import Layout
from pipeline.target_weights import read_target_weights

CHUNK_LOGITS = 1 << 23
"""Most logits that exist at once."""
TIMEOUT_S = 1800.0
"""Of a batch: it may stand behind others in the server's queue."""
LOOK_S = 0.2


class SglangTarget:
    """Documents go as prompts of a request that generates one token; only their head is held here."""

    def __init__(self, url: str, states: Path, *, target: Path, layout: Layout) -> None:
        """`target`: the model's folder, for the head alone. Raises ConfigError for an address that is none, DataError."""
        self.on_layer: Callable[[], None] = lambda: None
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise ConfigError(f"server {url!r}: write http://HOST:PORT")
        self._address, self._states, self._layout = (parts.hostname, parts.port or 80), states, layout
        self._head = read_target_weights(target).head.to(torch.float32)

    def read(self, documents: Sequence[Tensor]) -> list[States]:
        names = [f"eagle3-{uuid.uuid4().hex}" for _ in documents]
        body = {
            "input_ids": [document.tolist() for document in documents],
            "sampling_params": {"temperature": 0, "max_new_tokens": 1},
            "rid": names,
            "return_hidden_states": True,
        }
        try:
            self._while_waiting(lambda: self._post("/generate", body))
            return [self._take(name, len(document)) for name, document in zip(names, documents, strict=True)]
        finally:
            for name in names:
                self._file(name).unlink(missing_ok=True)

    @torch.inference_mode()
    def best_tokens(self, last_hidden: Tensor) -> Tensor:
        rows = torch.split(last_hidden.to(torch.float32), max(1, CHUNK_LOGITS // len(self._head)))
        return torch.cat([argmax(part @ self._head.T) for part in rows])

    def _file(self, name: str) -> Path:
        return self._states / f"{name}.safetensors"

    def _take(self, name: str, tokens: int) -> States:
        path = self._file(name)
        if not path.exists():
            raise ConfigError(
                f"the server left no hidden states in {self._states}: start it with `python -m pipeline serve --states FOLDER` "
                "and a folder that this process sees, too"
            )
        try:
            found = load_file(path)
        except SafetensorError as error:
            raise DataError(f"{path}: {error}") from error
        layers, width = len(self._layout.feature_layers.hidden_states), self._layout.hidden_size
        shapes = {name: tuple(rows.shape) for name, rows in found.items()}
        if shapes != {"features": (tokens, layers * width), "last_hidden": (tokens, width)}:
            raise DataError(
                f"the server's states of {tokens} tokens are {shapes}, not {layers} layers of {width}: does it serve this "
                "target, and capture these layers?"
            )
        return States(features=found["features"], last_hidden=found["last_hidden"])

    def _while_waiting(self, work: Callable[[], object]) -> None:
        """Let `work` run in a thread of its own, and say again and again that we are alive."""
        pool = ThreadPool(1)
        try:
            running = pool.apply_async(work)
            while not running.ready():
                running.wait(LOOK_S)
                self.on_layer()
            running.get()
        finally:
            pool.close()

    def _post(self, path: str, body: dict[str, Any]) -> None:
        connection = http.client.HTTPConnection(*self._address, timeout=TIMEOUT_S)
        place = f"http://{self._address[0]}:{self._address[1]}{path}"
        try:
            connection.connect()
            if is_no_engine(str(connection.sock.getpeername()[0])):
                raise EngineUnavailableError(f"{place}: that is no address of an engine")
            connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            said = answer.read()
        except (OSError, http.client.HTTPException) as error:
            raise EngineUnavailableError(f"{place}: {error or type(error).__name__}") from error
        finally:
            connection.close()
        if answer.status != http.HTTPStatus.OK:
            raise EngineError(f"{place}: {answer.status} {said[:300].decode(errors='replace')}")
        for row in json.loads(said):
            if row["meta_info"]["finish_reason"]["type"] == "abort":
                raise AbortedError(f"{place}: the server gave up a request: {row['meta_info']['finish_reason']}")
