"""The thread that turns captured states into documents and shards. A failure ends the capture, never the engine."""

import logging
import queue
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from pipeline.batching import Document
from pipeline.errors import DataError, PipelineError
from pipeline.folder_lock import FolderLock
from pipeline.lean_ops import rms_norm
from pipeline.serving.embedded.requests import CaptureName
from pipeline.serving.embedded.runner import HiddenStates
from pipeline.shard_layout import Layout
from pipeline.shards import ShardWriter
from pipeline.target_weights import read_target_weights
from pipeline.teacher import FinalNorm

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Captured:
    """One finished answer. T tokens in all."""

    name: CaptureName
    input_ids: Tensor
    output_ids: Tensor
    is_greedy: bool
    states: Sequence[HiddenStates]
    """Of the first T − 1 tokens, before the final norm: the last token is never read by the model."""


class CaptureWriter:
    def __init__(self, folder: Path, layout: Layout, model: Path, *, shard_bytes: int) -> None:
        """Raises PipelineError when another process writes to the folder, or it holds states of another layout."""
        folder.mkdir(parents=True, exist_ok=True)
        self.off: str | None = None
        """Why nothing is captured any more; None while all is well."""
        self._layout = layout
        self._model = model
        self._lock = FolderLock(folder)
        self._shards = ShardWriter(folder, layout, shard_bytes=shard_bytes)
        self._known = set(self._shards.done)
        """(dataset, name) of documents that are written or on their way: an answer that is made again is not kept twice."""
        self._queue: queue.SimpleQueue[Captured | threading.Event | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="capture", daemon=True)
        self._thread.start()

    @property
    def documents(self) -> int:
        """Documents that are safe on disk."""
        return len(self._shards.done)

    def wants(self, name: CaptureName) -> bool:
        return self.off is None and (name.dataset, name.name) not in self._known

    def put(self, captured: Captured) -> None:
        self._queue.put(captured)

    def flush(self) -> None:
        """Wait until all that was put before is written, or the capture has ended."""
        written = threading.Event()
        self._queue.put(written)
        while not written.wait(1.0) and self._thread.is_alive():
            pass

    def close(self) -> None:
        """Flush, and let others write to the folder."""
        self._queue.put(None)
        self._thread.join()
        self._lock.release()

    def _run(self) -> None:
        norm = None
        try:
            norm = read_target_weights(self._model).final_norm
        except (PipelineError, OSError) as error:
            self._end(error)
        while True:
            item = self._queue.get()
            if isinstance(item, Captured):
                if norm is not None and self.wants(item.name):
                    self._keep(item, norm)
                continue
            self._write()
            if item is None:
                return
            item.set()

    def _keep(self, captured: Captured, norm: FinalNorm) -> None:
        name = captured.name
        try:
            self._shards.add(_document(captured, norm))
            self._known.add((name.dataset, name.name))
        except DataError as error:
            log.warning("not captured: %s", error)
        except (PipelineError, OSError) as error:
            self._end(error)

    def _write(self) -> None:
        if self.off is None:
            try:
                self._shards.finish(inputs={"target": self._layout.target})
            except (PipelineError, OSError) as error:
                self._end(error)

    def _end(self, error: Exception) -> None:
        self.off = str(error)
        log.warning("hidden states are no longer captured: %s", error)


def _document(captured: Captured, norm: FinalNorm) -> Document:
    """Raises DataError when states are missing."""
    ids = torch.cat((captured.input_ids, captured.output_ids))
    states = HiddenStates.cat(captured.states) if captured.states else None
    name = captured.name
    if states is None or len(states.last) != len(ids) - 1:
        read = 0 if states is None else len(states.last)
        raise DataError(f"{name.dataset}/{name.name}: states of {read} tokens, and {len(ids) - 1} were read")
    loss_mask = torch.arange(len(ids)) >= len(captured.input_ids)
    with torch.no_grad():
        last_hidden = rms_norm(states.last, norm.weight.to(states.last.dtype), norm.eps)
    return Document(
        token_ids=ids,
        loss_mask=loss_mask,
        # The last token was never read; nothing that trains looks at its row.
        features=_padded(states.features),
        last_hidden=_padded(last_hidden),
        argmax=_best_tokens(ids, loss_mask) if captured.is_greedy else None,
        dataset=name.dataset,
        name=name.name,
    )


def _padded(rows: Tensor) -> Tensor:
    return torch.cat((rows, rows.new_zeros(1, rows.shape[1])))


def _best_tokens(ids: Tensor, loss_mask: Tensor) -> Tensor:
    """What extraction would find for a greedy answer: each generated token at the place before it, −1 elsewhere."""
    best = torch.full_like(ids, -1)
    best[:-1][loss_mask[1:]] = ids[1:][loss_mask[1:]]
    return best
