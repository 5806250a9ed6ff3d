"""A small graph from left to right, laid out on the server: boxes in columns, and curves between them. Units are pixels."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 148, 48
"""Of a box."""
BETWEEN, UNDER = 34, 12
"""From column to column, and from box to box."""
EDGE = 3
"""Around everything, for the outline of a box with focus."""
LETTERS = 17
"""That fit into a box."""


@dataclass(frozen=True, kw_only=True)
class Node:
    key: str
    column: int
    order: float
    """Within its column."""
    title: str
    """Untrusted where it names a dataset."""
    state: str
    words: str
    fact: str
    """The one number worth showing."""
    href: str = ""
    notes: tuple[str, ...] = ()
    """More, for the list behind the drawing."""
    here: bool = False
    """The page is about it."""

    @property
    def short(self) -> str:
        return self.title if len(self.title) <= LETTERS else f"{self.title[: LETTERS - 1]}…"


@dataclass(frozen=True, kw_only=True)
class Box:
    node: Node
    x: int
    y: int


@dataclass(frozen=True, kw_only=True)
class Drawing:
    width: int
    height: int
    boxes: list[Box]
    curves: list[str]
    """SVG paths."""
    box_width: int = WIDTH
    box_height: int = HEIGHT


def draw(nodes: Sequence[Node], edges: Iterable[tuple[str, str]]) -> Drawing:
    """Place nodes, which come in order, in the columns that are used, each column centred; edges are pairs of their keys."""
    columns = sorted({node.column for node in nodes})
    stacks = [[node for node in nodes if node.column == column] for column in columns]
    tallest = max((len(stack) for stack in stacks), default=0)
    boxes = {
        node.key: Box(
            node=node,
            x=EDGE + i * (WIDTH + BETWEEN),
            y=EDGE + row * (HEIGHT + UNDER) + (tallest - len(stack)) * (HEIGHT + UNDER) // 2,
        )
        for i, stack in enumerate(stacks)
        for row, node in enumerate(stack)
    }
    return Drawing(
        width=2 * EDGE + len(stacks) * (WIDTH + BETWEEN) - BETWEEN if stacks else 0,
        height=2 * EDGE + tallest * (HEIGHT + UNDER) - UNDER if stacks else 0,
        boxes=list(boxes.values()),
        curves=[_curve(boxes[start], boxes[end]) for start, end in edges],
    )


def _curve(start: Box, end: Box) -> str:
    x1, y1 = start.x + WIDTH, start.y + HEIGHT // 2
    x2, y2 = end.x - 5, end.y + HEIGHT // 2  # the arrow's head takes the last pixels
    middle = (x1 + x2) // 2
    return f"M{x1} {y1}C{middle} {y1} {middle} {y2} {x2} {y2}"
