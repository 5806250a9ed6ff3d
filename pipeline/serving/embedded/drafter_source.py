"""Drafts made by an EAGLE-3 drafter: it reads what the target has accepted, then feeds itself."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pipeline.draft_shape import DraftShape
from pipeline.lean_ops import argmax
from pipeline.serving.embedded.draft import Draft
from pipeline.serving.embedded.draft_tree import DraftTree
from pipeline.serving.embedded.drafter_runner import DrafterRunner
from pipeline.serving.embedded.job import Job
from pipeline.serving.embedded.runner import HiddenStates

PROMPT_ROWS = 16
"""More new rows than this are read at once, as a prompt; fewer wait for the next draft and share its forward."""


@dataclass
class _Unread:
    """Rows of a slot that the drafter has not read."""

    tokens: list[int] = field(default_factory=list)
    features: list[Tensor] = field(default_factory=list)


class DrafterSource:
    def __init__(self, runner: DrafterRunner, shape: DraftShape) -> None:
        self._runner = runner
        self._shape = shape
        self._unread = [_Unread() for _ in runner.cache.lengths]

    @property
    def feature_layers(self) -> tuple[int, ...]:
        return self._runner.feature_layers

    def read(self, slot: int, tokens: Sequence[int], states: HiddenStates | None) -> None:
        if states is None:
            raise ValueError("a drafter needs the target's hidden states")
        unread = self._unread[slot]
        unread.tokens += tokens
        unread.features.append(states.features)
        if len(unread.tokens) > PROMPT_ROWS:
            features = torch.cat(unread.features)
            self._runner.extend(slot, unread.tokens[:-1], features[:-1])
            self._unread[slot] = _Unread(unread.tokens[-1:], [features[-1:]])

    def propose(self, jobs: Sequence[Job]) -> list[Draft]:
        newest = [job.output_ids[-1] for job in jobs]
        # A chain of n guesses takes n steps, and so does the deepest branch of a tree at most.
        steps = min(self._shape.steps, self._shape.draft_tokens - 1, max(job.left for job in jobs) - 1)
        if steps < 1:
            return [Draft((token,)) for token in newest]
        hidden = self._read_accepted(len(jobs))
        return self._chains(newest, hidden, steps) if self._shape.topk == 1 else self._trees(newest, hidden, steps)

    def _read_accepted(self, count: int) -> Tensor:
        """The drafter's output after the newest token of each slot, [count, H]."""
        unread = self._unread[:count]
        self._unread[:count] = [_Unread() for _ in range(count)]
        features = torch.cat([part for some in unread for part in some.features])
        return self._runner.read([some.tokens for some in unread], features)

    def _chains(self, newest: Sequence[int], hidden: Tensor, steps: int) -> list[Draft]:
        """The likeliest token, step after step, as long as the drafter trusts its chain; hidden [slots, H]."""
        chains = [[token] for token in newest]
        likelihoods = [1.0] * len(chains)
        fed = 0
        while True:
            tokens, chances = self._guesses(hidden)
            going = [likelihood >= self._shape.confidence for likelihood in likelihoods]
            for slot, (token, chance) in enumerate(zip(tokens, chances, strict=True)):
                if going[slot]:
                    chains[slot].append(token)
                    likelihoods[slot] *= chance
            if fed == steps - 1 or max(likelihoods) < self._shape.confidence:
                break
            # Chains that have ended are fed along, so that all slots have as many rows to forget.
            hidden = self._runner.feed([chain[-1:] for chain in chains], hidden)
            fed += 1
        for slot in range(len(chains)):
            self._runner.rewind(slot, fed)
        return [Draft(tuple(chain)) for chain in chains]

    def _guesses(self, hidden: Tensor) -> tuple[list[int], list[float]]:
        """The target's id of each row's likeliest token, and its probability (1 where nobody asks for it)."""
        logits = self._runner.logits(hidden)
        best = argmax(logits)
        tokens: list[int] = self._runner.token_ids[best].tolist()
        if not self._shape.confidence:
            return tokens, [1.0] * len(tokens)
        log_chances = torch.log_softmax(logits.float(), dim=-1).gather(-1, best[:, None])
        return tokens, log_chances[:, 0].exp().tolist()

    def _trees(self, newest: Sequence[int], hidden: Tensor, steps: int) -> list[Draft]:
        """The likeliest nodes of a tree of `topk` branches; hidden [slots, H]."""
        trees = [DraftTree(token) for token in newest]
        seen = torch.empty(len(trees), 1, 0, dtype=torch.bool)  # [slots, frontier, rows so far]
        for depth in range(1, steps + 1):
            log_probabilities, draft_ids = (
                side.view(len(trees), -1, self._shape.topk).tolist()
                for side in self._likeliest(hidden)  # [slots · frontier, topk] each
            )
            branches = zip(trees, draft_ids, log_probabilities, strict=True)
            origins = torch.tensor([tree.branch(tokens, chances) for tree, tokens, chances in branches])  # [slots, topk]
            if depth < steps:
                rows = origins + torch.arange(len(trees))[:, None] * seen.shape[1]
                own = torch.eye(self._shape.topk, dtype=torch.bool).expand(len(trees), -1, -1)
                seen = torch.cat((seen.flatten(0, 1)[rows], own), dim=-1)
                parents = hidden[rows.flatten().to(hidden.device)]
                hidden = self._runner.branch([tree.frontier_tokens for tree in trees], parents, depth, seen)
        return [tree.draft(self._shape.draft_tokens - 1) for tree in trees]

    def _likeliest(self, hidden: Tensor) -> tuple[Tensor, Tensor]:
        """Log probabilities and the target's ids of the `topk` likeliest tokens of each row."""
        best = torch.log_softmax(self._runner.logits(hidden).float(), dim=-1).topk(self._shape.topk)
        return best.values, self._runner.token_ids[best.indices]

    def move(self, source: int, target: int) -> None:
        self._runner.cache.move(source, target)
        self._unread[target], self._unread[source] = self._unread[source], _Unread()

    def clear(self, slot: int) -> None:
        self._runner.cache.clear(slot)
        self._unread[slot] = _Unread()
