"""Decode evals: the drafter of this moment decodes held-out prompts for real, and the accept length is counted."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import torch

from pipeline.acceptance import Served, served_accept_length
from pipeline.amounts import size
from pipeline.draft_shape import DraftShape
from pipeline.errors import ConfigError, DataError
from pipeline.model import Drafter
from pipeline.serving.embedded.loading import LoadedModel, LoadOptions, load
from pipeline.serving.embedded.offline import decode
from pipeline.tensor_files import weight_files
from pipeline.training.config import TrainConfig
from pipeline.training.corpus import Corpus

SLOTS = 8
ROOM = 1.3
"""Free memory that a target needs, as a multiple of its weight files."""


@dataclass(frozen=True, kw_only=True)
class DecodeEvaluation:
    accept_length: float
    prompts: int
    tokens: int
    datasets: dict[str, float] = field(default_factory=dict)


class Decoder:
    """Loads the target when it is used first, and keeps it."""

    def __init__(self, config: TrainConfig, corpus: Corpus, device: torch.device) -> None:
        self._config, self._corpus, self._device = config, corpus, device
        self._documents = corpus.sample(config.evaluation.decode_prompts)
        self._loaded: LoadedModel | None = None

    @property
    def prompts(self) -> int:
        return len(self._documents)

    def measure(self, drafter: Drafter, on_prompts: Callable[[], None] = lambda: None) -> DecodeEvaluation:
        """Decode all prompts greedily; `on_prompts` is called before every few. `drafter`: whole, on this process's device.

        Raises ConfigError when the target cannot be loaded here, DataError when there is no prompt or no draft was verified.
        """
        evaluation = self._config.evaluation
        prompts = {index: prompt for index in self._documents if (prompt := self._prompt(index))}
        if not prompts:
            raise DataError("no held-out document has a prompt to decode")
        on_prompts()
        target = self._target(max(map(len, prompts.values())))
        shape = DraftShape(steps=evaluation.draft_steps, topk=1, draft_tokens=evaluation.draft_steps + 1)
        served: dict[str, list[Served]] = defaultdict(list)
        order = list(prompts)
        for start in range(0, len(order), SLOTS):
            on_prompts()
            some = order[start : start + SLOTS]
            answers = decode(
                target.runner,
                drafter,
                [prompts[index] for index in some],
                max_new_tokens=evaluation.decode_tokens,
                shape=shape,
                stop_ids=target.eos_ids,
            )
            for index, answer in zip(some, answers, strict=True):
                served[self._corpus.source.documents[index].dataset].append(answer.served)
        pooled = [one for group in served.values() for one in group]
        return DecodeEvaluation(
            accept_length=served_accept_length(pooled),
            prompts=len(pooled),
            tokens=sum(one.completion_tokens for one in pooled),
            datasets={
                name: served_accept_length(group)
                for name, group in sorted(served.items())
                if any(one.verify_ct for one in group)
            },
        )

    def _prompt(self, index: int) -> list[int]:
        """The tokens before the first generated one."""
        ids, mask = self._corpus.source.ids_and_mask(index)
        return [int(token) for token in ids[: int(mask.nonzero()[0])]]

    def _target(self, longest_prompt: int) -> LoadedModel:
        if self._loaded is None:
            evaluation, folder = self._config.evaluation, Path(self._config.target)
            self._require_room(folder)
            self._loaded = load(
                LoadOptions(
                    model=folder,
                    dtype="float32" if self._device.type == "cpu" else "bfloat16",
                    device=self._device.type,
                    threads=None,
                    slots=min(SLOTS, self.prompts),
                    context_length=longest_prompt + evaluation.decode_tokens + evaluation.draft_steps + 1,
                )
            )
        return self._loaded

    def _require_room(self, folder: Path) -> None:
        """Training from stored states needs no target in memory, so there may be no place for one."""
        needed = ROOM * sum(file.stat().st_size for file in weight_files(folder))
        free = torch.cuda.mem_get_info(self._device)[0] if self._device.type == "cuda" else psutil.virtual_memory().available
        if needed > free:
            raise ConfigError(f"the target needs {size(int(needed))} to decode, {size(free)} are free")
