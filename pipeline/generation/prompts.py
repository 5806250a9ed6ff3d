"""The prompts of a revision that still need an answer, in file order, without parsing those that have one."""

import re
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from pipeline.datasets.conversation import Conversation
from pipeline.errors import DataError

KEY_FIRST = re.compile(rb'\{"key":"([0-9a-f]+)"')
"""How Conversation.to_line begins; lines of other writers are parsed in full."""


class PromptFeed:
    def __init__(self, path: Path, is_done: Callable[[str], bool]) -> None:
        """`is_done` tells whether a key needs no answer."""
        self._path = path
        self._is_done = is_done
        self._file: BinaryIO | None = None
        self._line = 0
        self._taken: set[str] = set()
        self._again: deque[Conversation] = deque()

    def take(self) -> Conversation | None:
        """The next prompt; None when all are done or taken.

        Raises DataError, naming file and line, once for each line that is no prompt, and OSError.
        """
        return self._read() or (self._again.popleft() if self._again else None)

    def put_back(self, prompt: Conversation) -> None:
        """It came to nothing through no fault of its own: give it out again, after the others."""
        self._again.append(prompt)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def _read(self) -> Conversation | None:
        # Opened late: the prompts of a dataset that is skipped need not even be there.
        self._file = self._file or self._path.open("rb")
        for raw in self._file:
            self._line += 1
            if (quick := KEY_FIRST.match(raw)) and self._is_done(quick[1].decode()):
                continue
            try:
                prompt = Conversation.from_line(raw)
            except DataError as error:
                raise DataError(f"{self._path}, line {self._line}: {error}") from error
            if prompt.key in self._taken or self._is_done(prompt.key):
                continue
            self._taken.add(prompt.key)
            return prompt
        return None


def count_lines(path: Path) -> int:
    """Prompts in a file, for a plan whose manifest does not tell."""
    with path.open("rb") as file:
        return sum(1 for _ in file)
