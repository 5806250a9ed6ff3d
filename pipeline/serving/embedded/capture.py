"""Hidden states kept while the engine generates, so that no target has to read the answers again.

A request that says which prompt it answers becomes one document of a folder of shards, as extraction would write it. The
model thread only copies rows; everything else is done by the writer's thread. What goes wrong here never touches an answer.
"""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from pipeline.serving.embedded.capture_writer import Captured, CaptureWriter
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.requests import CaptureName
from pipeline.serving.embedded.runner import HiddenStates
from pipeline.shard_layout import DTYPES
from pipeline.target_layout import target_layout

SHARD_BYTES = 64 << 20
"""Smaller than extraction's: what is not yet written is lost with the engine's process, and is held in memory until then."""


@dataclass
class _Collected:
    name: CaptureName
    parts: list[HiddenStates] = field(default_factory=list)


class Capture:
    def __init__(
        self,
        folder: Path,
        model: Path,
        *,
        feature_layers: tuple[int, ...] = (),
        storage_dtype: str = "bfloat16",
        shard_bytes: int = SHARD_BYTES,
    ) -> None:
        """Open `folder`, new or with states of the same model. Raises PipelineError when it is held or holds other states."""
        layout = target_layout(model, feature_layers=feature_layers, dtype=storage_dtype)
        self.layers = layout.feature_layers.hidden_states
        self.folder = folder
        self._dtype = DTYPES[storage_dtype]
        self._writer = CaptureWriter(folder, layout, model, shard_bytes=shard_bytes)
        self._lock = threading.Lock()
        self._collected: dict[Job, _Collected] = {}

    def expect(self, job: Job, name: CaptureName) -> None:
        """Collect this job's states; called before the model thread sees it. A document that is there already is not."""
        if self._writer.wants(name):
            with self._lock:
                self._collected[job] = _Collected(name)

    def observe(self, job: Job, _position: int, states: HiddenStates) -> None:
        """The scheduler's observer, in the model thread."""
        if (collected := self._collected.get(job)) is not None:
            features = states.features.to("cpu", self._dtype, copy=True)
            # Not rounded yet: the final norm comes first.
            collected.parts.append(HiddenStates(features, states.last.to("cpu", copy=True)))

    def finish(self, job: Job) -> None:
        """Its answer has ended, in the model thread. That of an aborted request is no answer."""
        with self._lock:
            collected = self._collected.pop(job, None)
        if collected is None or job.finish_reason is None or job.finish_reason["type"] == "abort":
            return
        self._writer.put(
            Captured(
                name=collected.name,
                input_ids=torch.tensor(job.input_ids),
                output_ids=torch.tensor(job.output_ids),
                is_greedy=job.sampling.is_greedy,
                states=collected.parts,
            )
        )

    def flush(self) -> dict[str, Any]:
        """Write everything that has ended, wait for it, and tell how things stand. Blocks; from any thread."""
        self._writer.flush()
        return self.status()

    def status(self) -> dict[str, Any]:
        """For /server_info: the folder, what is safe in it, and why nothing is captured any more, if so."""
        return {"folder": str(self.folder), "documents": self._writer.documents, "off": self._writer.off}

    def close(self) -> None:
        self._writer.close()
