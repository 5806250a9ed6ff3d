"""What is measured against what, and in which order."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.benchmark.config import BenchmarkConfig, Mode
from pipeline.draft_shape import DraftShape


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One way of decoding the same prompts."""

    mode: Mode
    shape: DraftShape | None = None
    """None for plain decoding."""

    @property
    def shape_name(self) -> str:
        return str(self.shape or "")

    @property
    def name(self) -> str:
        """For people, and for files: `drafter-3-1-4`."""
        return "-".join([self.mode, *self.shape_name.split("/")]) if self.shape else self.mode


PLAIN = Contender(mode="plain")


@dataclass(frozen=True, kw_only=True)
class Group:
    """Passes that are compared with one another: the same prompts, by each contender in turn."""

    dataset: str
    concurrency: int
    repetition: int
    """From 1."""


def embedded_contenders(config: BenchmarkConfig) -> tuple[Contender, ...]:
    """The three rows of an honest benchmark: plain, prompt lookup, and the drafter in each of its shapes.

    Prompt lookup drafts a chain as long as the first shape's.
    """
    steps = config.shapes[0].steps
    lookup = Contender(mode="lookup", shape=DraftShape(steps=steps, topk=1, draft_tokens=steps + 1))
    return (PLAIN, lookup, *(Contender(mode="drafter", shape=shape) for shape in dict.fromkeys(config.shapes)))


def groups(datasets: Sequence[str], concurrency: Sequence[int], repetitions: int) -> list[Group]:
    """Repetitions outermost: however early a benchmark ends, every dataset has about as many of them."""
    rounds = itertools.product(range(1, repetitions + 1), dict.fromkeys(concurrency), datasets)
    return [Group(dataset=dataset, concurrency=n, repetition=repetition) for repetition, n, dataset in rounds]


def in_turn(contenders: Sequence[Contender], repetition: int) -> list[Contender]:
    """Another one begins in each repetition, so that no contender always runs on the machine that the same one left."""
    first = (repetition - 1) % len(contenders)
    return [*contenders[first:], *contenders[:first]]
