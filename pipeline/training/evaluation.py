"""Teacher-forced numbers on held-out answers: loss, acc_k and the simulated accept length, in all and by dataset."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from pipeline.acceptance import SimulatedAcceptance
from pipeline.batching import build_batch
from pipeline.loss import StepLosses
from pipeline.ordering import plan_batches
from pipeline.rows import Batch
from pipeline.teacher import Targets, Teacher
from pipeline.training.config import TrainConfig
from pipeline.training.corpus import Corpus
from pipeline.training.parallel import World, whole
from pipeline.training.stepping import autocast


@dataclass(frozen=True, kw_only=True)
class Evaluation:
    loss: float
    """Σ decay^k · mean objective, as it is trained."""
    acceptance: SimulatedAcceptance
    documents: int
    datasets: dict[str, SimulatedAcceptance] = field(default_factory=dict)


class Evaluator:
    def __init__(self, config: TrainConfig, corpus: Corpus, teacher: Teacher, world: World, *, precision: torch.dtype) -> None:
        self._config, self._corpus, self._teacher = config, corpus, teacher
        self._world, self._precision = world, precision
        chosen = corpus.sample(config.evaluation.max_documents)
        self.documents = len(chosen)
        lengths = [corpus.source.documents[index].tokens for index in chosen]
        plan = plan_batches(lengths, tokens_per_batch=config.tokens_per_batch, seed=0, epoch=0) if chosen else []
        self._batches = [[chosen[place] for place in batch] for batch in plan]
        self._datasets = sorted({corpus.source.documents[index].dataset for index in chosen})
        self._steps = max(config.objective.steps, config.evaluation.draft_steps)

    @torch.no_grad()
    def measure(self, module: nn.Module, on_batch: Callable[[], None] = lambda: None) -> Evaluation:
        """Measure on the sample of held-out documents. All processes call it together; `on_batch` before each batch."""
        trained, drafts = self._config.objective.steps, self._config.evaluation.draft_steps
        counts: dict[str, Tensor] = defaultdict(lambda: torch.zeros((4, self._steps), dtype=torch.float64))
        losses = torch.zeros((2, self._steps), dtype=torch.float64)
        with whole(module) as called:
            for documents in self._batches[self._world.rank :: self._world.size]:
                on_batch()
                batch = build_batch(self._corpus.source.load(documents), steps=self._steps).to(self._world.device)
                targets = self._teacher.targets(batch)
                with autocast(self._world.device, self._precision):
                    correct, supervised, sums = _forward(called, batch, targets)
                losses += torch.stack((sums, targets.counted)).cpu()
                for dataset, rows in _rows_by_dataset(batch):
                    counts[dataset] += count_chains(correct[:, rows], supervised[:, rows], drafts=drafts)
        losses = self._world.sum(losses)
        total = self._world.sum(torch.stack([counts[dataset] for dataset in self._datasets]))  # [datasets, 4, K]
        means = losses[0] / losses[1].clamp(min=1)
        decay = self._config.objective.decay ** torch.arange(self._steps, dtype=torch.float64)
        return Evaluation(
            loss=float((means * decay)[:trained].sum()),
            acceptance=_acceptance(total.sum(0)),
            documents=self.documents,
            datasets={name: _acceptance(part) for name, part in zip(self._datasets, total, strict=True)},
        )


def count_chains(correct: Tensor, supervised: Tensor, *, drafts: int) -> Tensor:
    """Starts, survivors, hits and rows, float64 [4, K], of bool [K, R]. Chains end after `drafts` drafts."""
    alive = (correct & supervised).cumprod(0)[:drafts].sum(1)  # [drafts]
    counts = torch.zeros((4, len(correct)), dtype=torch.float64)
    counts[0, 0] = float(supervised[0].sum())
    counts[1, : len(alive)] = alive
    counts[2] = (correct & supervised).sum(1)
    counts[3] = supervised.sum(1)
    return counts


def _acceptance(counts: Tensor) -> SimulatedAcceptance:
    starts, survivors, hits, rows = ([round(value) for value in row] for row in counts.tolist())
    return SimulatedAcceptance(starts=starts[0], survivors=tuple(survivors), hits=tuple(hits), rows=tuple(rows))


def _rows_by_dataset(batch: Batch) -> Sequence[tuple[str, Tensor]]:
    """The query rows of each dataset, as bool [R]."""
    datasets = [dataset for dataset, _ in batch.names]
    found = []
    for name in sorted(set(datasets)):
        member = torch.tensor([dataset == name for dataset in datasets], device=batch.query_documents.device)
        found.append((name, member[batch.query_documents]))
    return found


def _forward(module: nn.Module, batch: Batch, targets: Targets) -> tuple[Tensor, Tensor, Tensor]:
    """Correct and supervised, bool [K, R], and sums [K]. A batch of which nothing counts is all misses."""
    if not targets.label_rows.shape[1]:
        return torch.zeros_like(targets.supervised), targets.supervised, torch.zeros(batch.steps, device=batch.tokens.device)
    found: StepLosses = module.get_submodule("test")(batch, targets)
    return found.correct, found.supervised, found.sums
